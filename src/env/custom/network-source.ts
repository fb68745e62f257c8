/**
 * The part of the sandbox's worker that makes refused requests readable, as text: it enforces nothing (the page's policy does), but
 * tells the code's author which host was refused and which setting grants it.
 */

/** Milliseconds in which the browser, however busy, reports a breach of the policy, whose request has failed already; and how often it is asked. */
const REPORTED_WITHIN = 500
const LOOK_EVERY = 10

/**
 * The hosts come as the worker's name. A fetch that the browser refuses rejects with a sentence; so does one whose answer may not be read, since
 * servers' CORS easily forgets pages of opaque origin. What was refused is also logged once a host: other ways of asking say nothing.
 */
export const NETWORK_BEFORE = `{ const { Error, Object, Promise, Set, String, TypeError, URL, setTimeout } = __global;
const hosts = String(self.name || '').split(' ').filter((host) => host !== ''), fetch = self.fetch, refused = new Set(), told = new Set();
const setting = ' network_hosts, beside the code under Network.';
const originOf = (address) => { const url = new URL(address); return url.origin === 'null' ? url.protocol : url.origin; };
const outside = (origin) => !String(origin).startsWith('http') ? 'The code asked ' + origin + ', which no host opens: code in the sandbox reaches hosts by fetch, over https.' : 'The code asked ' + origin + (hosts.length === 0 ? ' and has no network.' : ', which is not among its hosts (' + hosts.join(', ') + ').') + ' Grant the host:' + setting;
const onwards = (origin) => origin + ' sent the request on to a host that is not among those of the code (' + hosts.join(', ') + '). Grant that one, too:' + setting;
if (self.addEventListener) self.addEventListener('securitypolicyviolation', (event) => {
  if (event.effectiveDirective !== 'connect-src') return;
  let origin = event.blockedURI;
  try { origin = originOf(origin); } catch {}
  refused.add(origin);
  if (!told.has(origin) && logs.length < 50) { told.add(origin); logs.push(hosts.includes(origin) ? onwards(origin) : outside(origin)); }
});
const why = async (address, error) => {
  let origin;
  try { origin = originOf(address); } catch { return error; }
  if (!hosts.includes(origin)) return new TypeError(outside(origin));
  if (!(error instanceof TypeError)) return error;
  for (let waited = 0; waited < ${REPORTED_WITHIN} && !refused.has(origin); waited += ${LOOK_EVERY}) await new Promise((done) => setTimeout(done, ${LOOK_EVERY}));
  return new TypeError(refused.delete(origin) ? onwards(origin) : origin + ' gave no answer that this page may read: it is down, or it does not let every page ask. It must send Access-Control-Allow-Origin: * (or null), also in answer to OPTIONS.');
};
if (fetch) self.fetch = async (...asked) => {
  try { return await fetch(...asked); } catch (error) {
    const to = asked[0];
    throw await why(typeof to === 'object' && to !== null && 'url' in to ? to.url : String(to), error);
  }
}; }`
