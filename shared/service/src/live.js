// Keeps the figures of a running iteration up to date.
for (const section of document.querySelectorAll('[data-source]')) {
  const events = new EventSource(section.dataset.source);
  events.addEventListener('progress', (event) => {
    const progress = JSON.parse(event.data);
    for (const figure of section.querySelectorAll('[data-live]')) {
      const value = String(progress[figure.dataset.live]);
      if (figure.textContent !== value) figure.textContent = value;
    }
    if (progress.closed_at) {
      events.close();
      location.reload();
    }
  });
}
