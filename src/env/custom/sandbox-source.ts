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

/** A program's text on one line; its comments have lines of their own. */
const oneLine = (text: string): string => text.replaceAll(/^\s*\/\/.*$/gm, '').replaceAll(/\n\s*/g, ' ')

/**
 * Before the code, on one line. All of it is in a closure: the code, which could otherwise answer in the sandbox's name, sees nothing but `__own`,
 * by which the last line hands over what is to be called. `serve` is the part of one kind of worker: it defines `hear`, which gets the page's
 * messages, and may use `own()`, `post`, `text`, `thrown` and `logs`.
 */
export const before = (serve: string): string =>
  oneLine(`'use strict'; const __own = (() => {
  const __global = globalThis, { ${LANGUAGE} } = __global, post = self.postMessage.bind(self), logs = [];
  // Some browsers keep it in the worker's prototype.
  for (let at = self; at; at = Object.getPrototypeOf(at)) if (Object.hasOwn(at, 'postMessage')) Object.defineProperty(at, 'postMessage', { value: undefined, writable: true });
  const text = (value) => { try { if (typeof value === 'string') return value; if (value instanceof Error) return value.name + ': ' + value.message; const json = typeof value === 'object' && value !== null ? JSON.stringify(value) : undefined; return json === undefined ? String(value) : json } catch { return '[cannot be shown]' } };
  const thrown = (error) => { try { return { error: String(error && error.message || error), stack: String(error && error.stack || '') } } catch { return { error: 'something was thrown that has no text', stack: '' } } };
  for (const way of ['log', 'info', 'warn', 'error', 'debug']) console[way] = (...words) => { if (logs.length < 50) logs.push(words.map(text).join(' ').slice(0, 500)) };
  ${NETWORK_BEFORE}
  let handed;
  const own = () => handed;
  ${serve}
  // The page's own messages alone: the code can make events, too.
  self.addEventListener('message', (event) => { if (!event.isTrusted) return; event.stopImmediatePropagation(); hear(event.data); }, true);
  return (given) => { handed ??= given; post({ ready: true }); };
})();`)

/** The whole program of a worker whose own part `serve` is. */
export const program = (serve: string, called: string, code: string): string => `${before(serve)}\n${code}\n__own(typeof ${called} === 'function' ? ${called} : null);\n`

/** Calls the function, and answers with what it gave or threw. */
const FUNCTION = (called: string) => `
const metrics = {};
const log_metric = (name, value) => { if (Number.isFinite(value)) (metrics[String(name).slice(0, 80)] ??= []).push(value) };
const hear = async (data) => {
  try {
    if (own() === null) throw new Error('There is no function called ${called}.');
    const rewards = await own()({ ...data, log_metric });
    post({ rewards, metrics, logs });
  } catch (error) {
    post({ ...thrown(error), logs });
  }
};`

/** The worker's whole program for one function. */
export function workerSource(called: string, code: string): string {
  return program(FUNCTION(called), called, code)
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
const isAnswer = (data) => typeof data === 'object' && data !== null;
const run = ({ id, source, args, seconds }, calls) => new Promise((done) => {
  if (!calls.has(id)) return done({ id, stopped: true });
  if (!allowed.has(source)) return done({ id, refused: true });
  const url = URL.createObjectURL(new Blob([source], { type: 'text/javascript' }));
  const worker = new Worker(url, named);
  const end = (answer) => { clearTimeout(timer); worker.terminate(); URL.revokeObjectURL(url); done({ ...answer, id }); };
  calls.set(id, end);
  const timer = setTimeout(() => end({ timedOut: true }), seconds * 1000);
  worker.onmessage = ({ data }) => { if (isAnswer(data) && data.ready !== true) end(data); };
  worker.onerror = (event) => { event.preventDefault(); end({ error: event.message || 'The code could not be started.', line: event.lineno }); };
  worker.postMessage(args);
});
const start = (workers, { handle, source, seconds }, post) => {
  const url = URL.createObjectURL(new Blob([source], { type: 'text/javascript' }));
  const worker = new Worker(url, named), life = ++lives;
  // One call at a time: until it is answered its time runs, and nothing that the worker says moves its end but a question that the page must answer.
  const queue = [], asks = new Set();
  let current = null, ready = false, timer;
  const end = (why) => {
    clearTimeout(timer);
    worker.terminate();
    URL.revokeObjectURL(url);
    if (workers.get(handle)?.life === life) workers.delete(handle);
    if (current !== null) post({ id: current, ...why });
    for (const { id } of queue.splice(0)) post({ id, ...(current === null ? why : { lost: true }) });
    current = null;
  };
  const watch = () => { clearTimeout(timer); timer = setTimeout(() => end({ timedOut: true }), seconds * 1000); };
  const next = () => {
    clearTimeout(timer);
    asks.clear();
    const call = queue.shift();
    current = call === undefined ? null : call.id;
    if (call === undefined) return;
    watch();
    worker.postMessage(call);
  };
  watch();
  worker.onmessage = ({ data }) => {
    if (!isAnswer(data)) return;
    // Its first lines have run; whatever was sent meanwhile is waited for.
    if (!ready && data.ready === true) { ready = true; return next(); }
    if (current === null || data.id !== current) return;
    if (data.ask === undefined) { post({ ...data, life }); return next(); }
    if (asks.has(data.ask)) return;
    asks.add(data.ask);
    clearTimeout(timer);
    post({ ask: data.ask, what: data.what, args: data.args, handle });
  };
  worker.onerror = (event) => { event.preventDefault(); end({ error: event.message || 'The code could not be started.', line: event.lineno }); };
  const send = (data) => { queue.push(data); if (ready && current === null) next(); };
  const answer = (data) => { worker.postMessage(data); if (asks.delete(data.answer) && asks.size === 0) watch(); };
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
