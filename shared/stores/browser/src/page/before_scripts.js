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
  // WebRTC sends UDP past every interception.
  const ways = ['RTCPeerConnection', 'webkitRTCPeerConnection', 'RTCIceTransport', 'RTCDtlsTransport'];
  for (const name of ways) delete self[name];
  // A service worker would answer requests itself.
  if (self.ServiceWorkerContainer) {
    const refused = () => Promise.reject(new DOMException('not here', 'SecurityError'));
    ServiceWorkerContainer.prototype.register = refused;
  }
})();
