// Runs in every document before its own scripts. SEED is the second of the visit.
(() => {
  // The random numbers of pywb's replay, so that URLs with such numbers match there as well.
  let seed = SEED;
  const random = () => {
    seed = (seed * 9301 + 49297) % 233280;
    return seed / 233280;
  };
  const words = array => {
    for (let at = 0; at < array.length; at++) array[at] = random() * 4294967296;
    return array;
  };
  Math.random = random;
  if (self.crypto) {
    const { floor } = Math;
    const digits = length => {
      let text = '';
      while (text.length < length) text += floor(random() * 16).toString(16);
      return text;
    };
    crypto.getRandomValues = words;
    crypto.randomUUID = () => `${digits(8)}-${digits(4)}-4${digits(3)}-a${digits(3)}-${digits(12)}`;
  }
  // Whether a browser is idle depends on the machine.
  const { setTimeout, clearTimeout } = self;
  self.requestIdleCallback = callback => {
    const deadline = { didTimeout: false, timeRemaining: () => 50 };
    return setTimeout(() => callback(deadline), 1);
  };
  self.cancelIdleCallback = handle => clearTimeout(handle);
  // WebRTC sends UDP past every interception.
  const ways = ['RTCPeerConnection', 'webkitRTCPeerConnection', 'RTCIceTransport', 'RTCDtlsTransport'];
  for (const name of ways) delete self[name];
  if (self === top && self.navigation) {
    // What needs no request cannot be held back, and would take the place of the page.
    const isRequested = url => url.startsWith('http://') || url.startsWith('https://');
    navigation.addEventListener('navigate', event => {
      const { destination } = event;
      if (!destination.sameDocument && !isRequested(destination.url) && event.cancelable) event.preventDefault();
    });
    self.close = () => {};
  }
  if (self.navigation) {
    // What was shown before this page is not its own.
    const { back, go } = History.prototype;
    const has = steps => !(steps < 0) || navigation.entries()[navigation.currentEntry?.index + steps];
    History.prototype.back = function () {
      if (has(-1)) back.call(this);
    };
    History.prototype.go = function (steps) {
      if (has(steps)) go.call(this, steps);
    };
  }
  // A service worker would answer requests itself.
  if (self.ServiceWorkerContainer) {
    const refused = () => Promise.reject(new DOMException('not here', 'SecurityError'));
    ServiceWorkerContainer.prototype.register = refused;
  }
})();
