/** Environments of web pages, apps and tables. */

import { cutText } from '../../../core/text'
import type { ObservationFrame } from '../protocol'
import { withRest } from './rest'
import { argument, choice, constant, entry, template, text, tool, type Entry } from './entry'

/** TRL's limit for the accessibility tree, characters. */
const TREE = 2000

/** Goal, error of the last action, and the accessibility tree, as TRL's example words them. */
function pageText({ observation }: ObservationFrame): string | null {
  const { goal, error, last_action_error, axtree_txt, text: plain, url } = observation
  const parts: string[] = []
  if (typeof goal === 'string' && goal !== '') parts.push(`Goal: ${goal}`)
  const wrong = typeof last_action_error === 'string' ? last_action_error : error
  if (last_action_error !== false && typeof wrong === 'string' && wrong !== '') parts.push(`Error: ${wrong}`)
  const tree = typeof axtree_txt === 'string' && axtree_txt !== '' ? axtree_txt : plain
  if (typeof tree === 'string' && tree !== '') parts.push(`Page structure:\n${tree.length > TREE ? `${cutText(tree, TREE)}...` : tree}`)
  if (parts.length === 0 && typeof url === 'string' && url !== '') parts.push(`Page: ${url}`)
  return parts.length > 0 ? parts.join('\n\n') : null
}

/** The question and the company, which every tool asks for: new servers tell them in metadata. */
function questionText({ metadata }: ObservationFrame): string | null {
  const { question, company } = metadata
  return typeof question === 'string' && typeof company === 'string' ? `${question}\n${company}` : null
}

/** Fields of pages: what is not shown of them is the tree once more, in other forms, or a picture. */
const PAGE_FIELDS = (
  'text url screenshot goal axtree_txt pruned_html error last_action_error html open_pages_urls active_page_index app_state'
).split(' ')
const BID = text('The id in square brackets before the element')
const DIRECTION = choice('Which way', ['up', 'down'])
const PAGE = 'Goal, error of the last action, and the first 2,000 characters of the accessibility tree; the screenshot is drawn for you.'

export const WEB: readonly Entry[] = [
  entry({
    id: 'browsergym',
    title: 'BrowserGym',
    required: 'action_str',
    action: { action_str: { type: 'string' } },
    titles: ['BrowserGymAction'],
    marks: ['benchmark', 'current_url'],
    called: ['browsergym'],
    tools: [
      { tool: tool('click', 'Click an element on the page.', { bid: BID }), fields: { action_str: template('click({bid!r})') } },
      {
        tool: tool('fill', 'Fill an input field with text.', { bid: BID, text: text('What to write') }),
        fields: { action_str: template('fill({bid!r}, {text!r})') },
      },
      { tool: tool('send_keys', 'Press keys.', { text: text('E.g. Enter') }), fields: { action_str: template('send_keys({text!r})') } },
      { tool: tool('scroll', 'Scroll the page.', { direction: DIRECTION }), fields: { action_str: template('scroll({direction!r})') } },
      { tool: tool('noop', 'Do nothing and look at the page.', {}), fields: { action_str: constant('noop()') } },
    ],
    prompts: {
      system:
        'You control a web browser. The page is a list of elements, each with its id in square brackets: ' +
        "[13] button 'Click me' has the id 13. Reach the goal with as few actions as you can.",
      user: 'Complete the web task successfully.\n\n',
    },
    observation: PAGE,
    text: withRest(pageText, PAGE_FIELDS),
    reward: { take: 'last', successAt: 1 },
    quirks: [{ kind: 'large-frames', text: 'A screenshot of 1280×720 comes as a list of numbers: about 12 MB at every step.' }],
    stepSeconds: 120,
    needs: ['Chromium and Playwright on the server'],
    evidence: 'played',
    recording: 'environments/browsergym.json',
    notes: [
      'An action that fails gives reward 0 and an error, and the episode goes on.',
      'The task is the server’s; task_name at reset changes nothing.',
      'A first reset starts the browser, which may take a slow server half a minute. With Playwright 1.44 and OpenEnv 0.10.0 a second session failed until the server was restarted.',
    ],
    sessions: 8,
    hosts: ['openenv-browsergym-env.hf.space'],
  }),
  entry({
    id: 'openapp',
    title: 'OpenApp',
    required: 'action_type',
    action: { action_type: { type: 'string', among: ['click', 'fill', 'select_option', 'goto', 'scroll', 'send_keys', 'noop'] } },
    titles: ['OpenAppAction'],
    called: ['openapp', 'openapps'],
    tools: [
      {
        tool: tool('click', 'Click an element on the page.', { bid: BID }),
        fields: { action_type: constant('click'), bid: argument('bid') },
      },
      {
        tool: tool('fill', 'Fill an input field with text.', { bid: BID, text: text('What to write') }),
        fields: { action_type: constant('fill'), bid: argument('bid'), text: argument('text') },
      },
      {
        tool: tool('select_option', 'Choose from a list.', { bid: BID, value: text('Which option') }),
        fields: { action_type: constant('select_option'), bid: argument('bid'), value: argument('value') },
      },
      {
        tool: tool('goto', 'Go to an address.', { url: text('The address') }),
        fields: { action_type: constant('goto'), url: argument('url') },
      },
      {
        tool: tool('scroll', 'Scroll the page.', { direction: DIRECTION }),
        fields: { action_type: constant('scroll'), direction: argument('direction') },
      },
      {
        tool: tool('send_keys', 'Press keys.', { text: text('E.g. Enter') }),
        fields: { action_type: constant('send_keys'), text: argument('text') },
      },
      { tool: tool('noop', 'Do nothing and look at the page.', {}), fields: { action_type: constant('noop') } },
    ],
    prompts: { system: 'You control a web browser. Elements have their id in square brackets. Complete the task.', user: '' },
    observation: PAGE,
    text: withRest(pageText, PAGE_FIELDS),
    stepSeconds: 120,
    needs: ['a browser and the app suite on the server'],
    unrecorded: 'Its suite of apps is on no package registry, and was not installed where the others were recorded.',
  }),
  entry({
    id: 'finqa',
    title: 'FinQA',
    family: 'mcp',
    offers: ['get_descriptions', 'get_table_info', 'sql_query', 'submit_answer'],
    prompts: {
      system: 'Answer the question about the company from its tables. Look at them with the tools, then call submit_answer once.',
      user: '',
    },
    observation: 'The question and the company, then each tool’s result.',
    text: withRest(questionText, []),
    quirks: [
      {
        kind: 'task-in-state',
        fields: ['current_question', 'current_company'],
        text: 'Servers up to 0.3.1 leave the question out of the reset observation; it is read from the state.',
      },
      { kind: 'state-secret', fields: ['ground_truth'], text: 'The state holds the answer; it is never shown to the model.' },
    ],
    needs: ['a data set on the server'],
    notes: [
      'Done after submit_answer or 50 steps.',
      'It refuses list_tools as a step, so its tools are asked for through the mcp message.',
      'The recording is the official server with one made-up company: its data set is on the Hub.',
    ],
    evidence: 'played',
    recording: 'environments/finqa.json',
  }),
  entry({
    id: 'agent_world_model',
    title: 'Agent World Model',
    required: '',
    called: ['agentworldmodel', 'awm'],
    unsupported: 'It lists its tools only after a reset that names one of its worlds, and this page must know the tools before it resets.',
    observation: 'The tool’s result.',
    notes: ['Ends with the hidden tool done, which the listing does not show.', 'Reset takes scenario, task_idx, task and reward_config.'],
    sessions: null,
  }),
  entry({
    id: 'calendar',
    title: 'Calendar',
    observation: 'JSON.',
    unsupported: 'Its server speaks HTTP only and has no WebSocket at /ws, and all visitors share one environment.',
    sessions: null,
  }),
]
