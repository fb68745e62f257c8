/** Programs of workers that live on: a class whose instances are episodes, and a rollout function that asks the page's engine. */

import { program } from './sandbox-source'

/** Characters that a class may say at once: far more than a context holds. */
const LONGEST_TEXT = 100_000

/**
 * Takes calls one after the other, so that Math.random, which is every episode's own and drawn from its seed, gives the same numbers each
 * time. What a call writes with console.log goes back with its answer.
 */
const CLASS = (called: string) => `
  const made = new Map();
  let queue = Promise.resolve(), draw = Math.random;
  Math.random = () => draw();
  const drawsOf = (key) => {
    let state = key | 0;
    return () => {
      state = (state + 0x6d2b79f5) | 0;
      let t = Math.imul(state ^ (state >>> 15), 1 | state);
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
      return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
  };
  const textOf = (value) => value === undefined || value === null ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value);
  const wordsOf = (value) => text(value).slice(0, 200);
  const numberOf = (value, where) => {
    if (value === undefined || value === null || Number.isNaN(value)) return null;
    if (typeof value === 'boolean') return Number(value);
    if (typeof value === 'number' && Number.isFinite(value)) return value;
    throw Object.assign(new Error(where + ' gave the reward ' + wordsOf(value) + ', which is no finite number'), { contract: true });
  };
  const shortEnough = (said, where) => {
    if (said.length > ${LONGEST_TEXT}) throw Object.assign(new Error(where + ' returned ' + said.length + ' characters; the model reads at most ${LONGEST_TEXT}'), { contract: true });
    return said;
  };
  const isAnswer = (value, where) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
    const keys = Object.keys(value).filter((key) => value[key] !== undefined);
    const judging = keys.filter((key) => key === 'reward' || key === 'done');
    if (judging.length === 0) return false;
    const others = keys.filter((key) => !['text', 'reward', 'done'].includes(key)).map((key) => key.slice(0, 100));
    if (others.length === 0) return true;
    throw Object.assign(new Error(where + ' answered with ' + others.slice(0, 5).join(', ') + ' beside ' + judging.join(' and ')
      + ': an answer has text, reward and done alone. Put what the model is to read into text, and keep the rest in this; an object that is all for the model is returned as JSON.stringify(object)'), { contract: true });
  };
  const act = async ({ instance, act, method, args, seed }) => {
    if (act === 'new') {
      if (own() === null) throw new Error('There is no class called ${called}');
      const Own = own();
      draw = drawsOf(seed);
      made.set(instance, { self: new Own(), draw });
      return {};
    }
    if (act === 'drop') { made.delete(instance); return {}; }
    const one = made.get(instance);
    draw = one.draw;
    const value = await one.self[method](...args);
    const done = one.self.done === true;
    if (act === 'reset') {
      if (value !== undefined && value !== null && typeof value !== 'string') throw new Error('reset returned ' + wordsOf(value) + ' instead of a text or nothing');
      return { text: shortEnough(value ?? '', method), reward: null, done };
    }
    if (act === 'reward') return { text: '', reward: numberOf(value, method), done };
    const said = isAnswer(value, method) ? value : { text: value };
    return { text: shortEnough(textOf(said.text), method), reward: numberOf(said.reward, method), done: done || said.done === true };
  };
  const hear = (data) => {
    queue = queue.then(async () => {
      try {
        post({ id: data.id, ...(await act(data)), logs: logs.splice(0) });
      } catch (error) {
        let contract = false, done = false;
        // What was thrown, and what the instance says of itself, may throw in turn.
        try { contract = error.contract === true; done = made.get(data.instance)?.self.done === true; } catch {}
        post({ id: data.id, ...thrown(error), contract, done, logs: logs.splice(0) });
      }
    });
  };`

/** The function is called with TRL's (prompts, trainer); whatever it awaits of `trainer` is asked of the page. */
const ROLLOUT = (called: string) => `
  const waiting = new Map();
  let last = 0, current = 0;
  const ask = (what, ...args) => new Promise((resolve, reject) => { waiting.set(++last, { resolve, reject }); post({ id: current, ask: last, what, args }); });
  const one = (list) => list[0];
  const trainerOf = (facts) => {
    const commonTools = () => {
      if (facts.tools === null) throw new Error('The environments of this run have different tools: trainer.rows[i].tools are those of prompt i');
      return facts.tools;
    };
    const openEnvironment = async (row) => {
      const session = await ask('open', row);
      return Object.freeze({
        tools: facts.rows[row].tools,
        reset: () => ask('reset', session),
        step: (name, args) => ask('step', session, { name, arguments: args ?? {} }),
        close: () => ask('close', session),
      });
    };
    const apply_chat_template = (messages, options) => ask('apply_chat_template', [messages], options).then(one);
    const encode = (text) => ask('encode', [text]).then(one);
    const decode = (ids, options) => ask('decode', [ids], options).then(one);
    const batch_decode = (ids, options) => ask('decode', ids, options);
    return Object.freeze({
      ...facts,
      get tools() { return commonTools(); },
      generate: (inputs, options) => ask('generate', inputs, options),
      apply_chat_template,
      tokenize: encode,
      decode,
      processing_class: Object.freeze({ apply_chat_template, encode, decode, batch_decode, eos_token_id: facts.eos_token_id }),
      tool_suffix: (results) => ask('tool_suffix', results),
      parse_tool_calls: (text) => ask('parse_tool_calls', text),
      environment: Object.freeze({ get tools() { return commonTools(); }, open: openEnvironment }),
    });
  };
  const hear = async (data) => {
    if (data.answer !== undefined) {
      const { resolve, reject } = waiting.get(data.answer) ?? {};
      waiting.delete(data.answer);
      if (data.failed !== undefined) reject?.(new Error(data.failed));
      else resolve?.(data.value);
      return;
    }
    current = data.id;
    try {
      if (own() === null) throw new Error('There is no function called ${called}');
      if (data.act === 'load') return post({ id: data.id, logs: logs.splice(0) });
      let state = data.seed | 0;
      Math.random = () => {
        state = (state + 0x6d2b79f5) | 0;
        let t = Math.imul(state ^ (state >>> 15), 1 | state);
        t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
        return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
      };
      const value = await own()(data.prompts, trainerOf(data.facts));
      post({ id: data.id, value: JSON.parse(JSON.stringify(value ?? null)), logs: logs.splice(0) });
    } catch (error) {
      post({ id: data.id, ...thrown(error), logs: logs.splice(0) });
    }
  };`

/** What a live worker's code is for. */
export type LiveRole = 'class' | 'rollout'

/** The worker's whole program. */
export function liveSource(role: LiveRole, called: string, code: string): string {
  return program(role === 'class' ? CLASS(called) : ROLLOUT(called), called, code)
}
