// Keeps the figures of running iterations up to date. Without it, they are those of the request.
'use strict';

const count = new Intl.NumberFormat('en');

function bytes(number) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let unit = 0;
  while (number >= 1024 && unit < units.length - 1) {
    number /= 1024;
    unit += 1;
  }
  return unit === 0 ? `${number} B` : `${(Math.floor(number * 10) / 10).toFixed(1)} ${units[unit]}`;
}

const plural = (number, one) => `${count.format(number)} ${one}${number === 1 ? '' : 's'}`;

// As `waits` in figures.rs.
function waits({ status, waiting, crawled, processed, origins_open: sites }) {
  if (status === 'paused') return 'Paused: it waits until it is resumed.';
  if (status === 'stopping') return 'Stopping: it finishes the requests under way.';
  if (waiting === 0) {
    if (crawled > processed) return 'It reads the last answers.';
    return `It visits known pages again, or waits for answers, at ${plural(sites, 'site')}.`;
  }
  const verb = waiting === 1 ? 'waits' : 'wait';
  return `${plural(waiting, 'URL')} ${verb} for their turn at ${plural(sites, 'site')}: each site is asked at its own pace.`;
}

// Whoever is in the middle of something is not disturbed.
function reload() {
  const at = document.activeElement;
  const isBusy = at && at !== document.body && !['MAIN', 'A'].includes(at.tagName);
  if (isBusy) setTimeout(reload, 1000);
  else location.reload();
}

function show(figure, progress) {
  const name = figure.dataset.live;
  if (name === 'done') {
    const { crawled, waiting } = progress;
    figure.hidden = waiting === 0;
    figure.value = Math.floor((crawled * 1000) / Math.max(crawled + waiting, 1));
    return;
  }
  let text;
  if (name === 'waits') text = waits(progress);
  else if (name === 'body_bytes') text = bytes(progress.body_bytes);
  else text = count.format(progress[name]);
  if (figure.textContent !== text) figure.textContent = text;
}

for (const section of document.querySelectorAll('[data-source]')) {
  const events = new EventSource(section.dataset.source);
  let status;
  events.addEventListener('progress', (event) => {
    const progress = JSON.parse(event.data);
    for (const figure of section.querySelectorAll('[data-live]')) show(figure, progress);
    const isOther = status !== undefined && status !== progress.status;
    status = progress.status;
    if (progress.closed_at) events.close();
    if (progress.closed_at || isOther) reload();
  });
}

// A schedule begins something: it is shown a moment later.
const reloadAt = Number(document.body.dataset.reloadAt);
const soon = reloadAt - Date.now() + 2000;
if (reloadAt > 0 && soon > 0 && soon < 2 ** 31) setTimeout(reload, soon);

// What was done is said once, and not again when the page is loaded again.
const address = new URL(location.href);
if (address.searchParams.has('done')) {
  address.searchParams.delete('done');
  history.replaceState(null, '', address);
}
