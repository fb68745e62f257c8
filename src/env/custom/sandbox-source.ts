/**
 * The programs of the sandbox, as text: a page of opaque origin that may ask nobody but the hosts that a person granted, and the worker that
 * it starts for each call of a reward function, or once for a class or a rollout function. A person's own code runs in such a worker alone; a
 * time-out ends it, with all that it waits for.
 */

import { isHost } from '../../core/network-hosts'
import { NETWORK_BEFORE } from './network-source'

/** Lines of the worker's program before the person's code. */
export const LINES_BEFORE = 1

/** What the sandbox uses of the language, whatever the person's own names hide of it. */
const LANGUAGE = 'Array, Boolean, Error, JSON, Map, Math, Number, Object, Promise, String'

/** Inside a block: the language's own things, under their names. */
export const OWN_LANGUAGE = `const { ${LANGUAGE} } = __global;`

/** Before the code, on one line: what it may log, how anything thrown is told, and what must not be changed from inside. */
export const BEFORE = [
  `'use strict'; const __global = globalThis, __post = self.postMessage.bind(self), __logs = [], __metrics = {}; self.postMessage = undefined;`,
  `const __text = (value) => { const { ${LANGUAGE} } = __global; try { if (typeof value === 'string') return value; if (value instanceof Error) return value.name + ': ' + value.message; const json = typeof value === 'object' && value !== null ? JSON.stringify(value) : undefined; return json === undefined ? String(value) : json } catch { return '[cannot be shown]' } };`,
  `const __thrown = (error) => { const { String } = __global; try { return { error: String(error && error.message || error), stack: String(error && error.stack || '') } } catch { return { error: 'something was thrown that has no text', stack: '' } } };`,
  `for (const way of ['log', 'info', 'warn', 'error', 'debug']) console[way] = (...words) => { if (__logs.length < 50) __logs.push(words.map(__text).join(' ').slice(0, 500)) };`,
  NETWORK_BEFORE,
].join(' ')

/** After it: calls the function by its name, and answers with what it gave or threw. */
const after = (called: string) => `
self.onmessage = async ({ data }) => {
  try {
    if (typeof ${called} !== 'function') throw new Error('There is no function called ${called}.');
    const log_metric = (name, value) => { if (Number.isFinite(value)) (__metrics[String(name).slice(0, 80)] ??= []).push(value) };
    const rewards = await ${called}({ ...data, log_metric });
    __post({ rewards, metrics: __metrics, logs: __logs });
  } catch (error) {
    __post({ ...__thrown(error), logs: __logs });
  }
}
`

/** The worker's whole program for one function. */
export function workerSource(called: string, code: string): string {
  return `${BEFORE}\n${code}\n${after(called)}`
}

/**
 * Nothing may be loaded from anywhere, and nobody asked but these hosts: by fetch, XMLHttpRequest and EventSource, and not by WebSocket, which no
 * https host of the list covers. A redirect to another host is refused like a request to it. Workers are made of text and under the same policy.
 * Throws for what is no host: it would be a part of the policy.
 */
export function sandboxPolicy(hosts: readonly string[]): string {
  const wrong = hosts.find((host) => !isHost(host))
  if (wrong !== undefined) throw new Error(`${wrong} is no host that can be granted.`)
  return `default-src 'none'; script-src 'unsafe-inline' blob:; worker-src blob:${hosts.length > 0 ? `; connect-src ${hosts.join(' ')}` : ''}`
}

/** The sandbox page: takes ports from its parent, runs what the parent has allowed, one call after the other. Its workers' name tells them their hosts. */
export const sandboxPage = (hosts: readonly string[]): string => `<!doctype html><meta http-equiv="Content-Security-Policy" content="${sandboxPolicy(hosts)}"><script>
'use strict';
const allowed = new Set(), named = { name: '${hosts.join(' ')}' };
let queue = Promise.resolve(), lives = 0;
const run = ({ id, source, args, seconds }, calls) => new Promise((done) => {
  if (!calls.has(id)) return done({ id, stopped: true });
  if (!allowed.has(source)) return done({ id, refused: true });
  const url = URL.createObjectURL(new Blob([source], { type: 'text/javascript' }));
  const worker = new Worker(url, named);
  const end = (answer) => { clearTimeout(timer); worker.terminate(); URL.revokeObjectURL(url); done({ id, ...answer }); };
  calls.set(id, end);
  const timer = setTimeout(() => end({ timedOut: true }), seconds * 1000);
  worker.onmessage = ({ data }) => end(data);
  worker.onerror = (event) => { event.preventDefault(); end({ error: event.message || 'The code could not be started.', line: event.lineno }); };
  worker.postMessage(args);
});
const start = (workers, { handle, source, seconds }, post) => {
  const url = URL.createObjectURL(new Blob([source], { type: 'text/javascript' }));
  const worker = new Worker(url, named), pending = new Set(), life = ++lives;
  let current = null, asks = 0, ready = false, timer;
  const end = (why) => {
    clearTimeout(timer);
    worker.terminate();
    URL.revokeObjectURL(url);
    if (workers.get(handle)?.life === life) workers.delete(handle);
    for (const id of pending) post({ id, ...(current === null || id === current ? why : { lost: true }) });
    pending.clear();
  };
  const watch = () => { clearTimeout(timer); timer = setTimeout(() => end({ timedOut: true }), seconds * 1000); };
  // A worker that is stuck between calls never says that it has begun the next one.
  const rest = () => { if (pending.size > 0) watch(); else clearTimeout(timer); };
  watch();
  worker.onmessage = ({ data }) => {
    // Its first lines have run; whatever was sent meanwhile is waited for.
    if (data.ready) { if (!ready) rest(); ready = true; return; }
    if (data.began) { current = data.id; return watch(); }
    if (data.ask !== undefined) { asks++; clearTimeout(timer); return post({ ...data, handle }); }
    current = null;
    asks = 0;
    pending.delete(data.id);
    rest();
    post({ ...data, life });
  };
  worker.onerror = (event) => { event.preventDefault(); end({ error: event.message || 'The code could not be started.', line: event.lineno }); };
  const send = (data) => { pending.add(data.id); if (current === null) watch(); worker.postMessage(data); };
  const answer = (data) => { worker.postMessage(data); if (--asks === 0) watch(); };
  workers.set(handle, { life, send, answer, end });
  return workers.get(handle);
};
const live = (workers, data, post) => {
  const found = workers.get(data.handle);
  if (data.end) return found?.end({ lost: true });
  if (data.answer !== undefined) return found?.answer(data);
  if (!allowed.has(data.source)) return post({ id: data.id, refused: true });
  if (data.life !== undefined && found?.life !== data.life) return post({ id: data.id, lost: true });
  (found ?? start(workers, data, post)).send({ id: data.id, ...data.message });
};
const serve = (port) => {
  const workers = new Map(), calls = new Map(), post = (answer) => port.postMessage(answer);
  port.onmessage = ({ data }) => {
    if (data.handle !== undefined) return live(workers, data, post);
    if (data.stop) {
      const end = calls.get(data.id);
      calls.delete(data.id);
      return end?.({ stopped: true });
    }
    calls.set(data.id, null);
    queue = queue.then(() => run(data, calls)).catch((error) => ({ id: data.id, error: String(error) })).then((answer) => { calls.delete(data.id); post(answer); });
  };
};
addEventListener('message', ({ data, source, ports }) => {
  if (source !== parent) return;
  if (data.allow !== undefined) { allowed.add(data.allow); parent.postMessage({ allowed: data.allow }, '*'); }
  if (ports[0]) serve(ports[0]);
});
parent.postMessage('sandbox-ready', '*');
</script>`
