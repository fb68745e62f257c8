/** Environments in which code or commands are run. */

import { isRecord } from '../../../core/records'
import type { ObservationFrame } from '../protocol'
import { argument, constant, entry, named, neverDone, text, tool, type Entry } from './entry'

/** A Python traceback's last error; the lines before it are the server's own interpreter. Anything else as it is. */
function withoutTraceback(stderr: string): string {
  if (!stderr.includes('Traceback (most recent call last):')) return stderr
  const errors = [...stderr.matchAll(/^[A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt|Iteration|Warning)\b/gm)]
  return stderr.slice(errors.at(-1)?.index ?? 0)
}

/** What a program printed, its errors, and its exit code where it is not 0. */
function programText({ observation }: ObservationFrame): string | null {
  const from = isRecord(observation['result']) ? observation['result'] : observation
  const { stdout, stderr, exit_code } = from
  if (typeof stdout !== 'string' && typeof stderr !== 'string') return null
  const parts = [typeof stdout === 'string' ? stdout.trimEnd() : '']
  if (typeof stderr === 'string' && stderr !== '') parts.push(`stderr: ${withoutTraceback(stderr).trimEnd()}`)
  if (typeof exit_code === 'number' && exit_code !== 0) parts.push(`exit code ${exit_code}`)
  return parts.filter((part) => part !== '').join('\n') || '(no output)'
}

/** KernRL repeats the task with every answer: it is read at the first turn, and the feedback afterwards. */
function kernelText({ observation }: ObservationFrame): string | null {
  const { problem_description: task, feedback, compilation_error: error } = observation
  return [feedback, error, task].find((part): part is string => typeof part === 'string' && part !== '') ?? null
}

const E2B = 'a paid service: E2B (its key belongs on the server)'
const PAID = 'It needs a paid service.'
const mentions = (field: string) => (facts: { fields: object | null }) => facts.fields !== null && field in facts.fields
const RESULT = 'The tool’s result.'
const PROGRAM = 'What the program printed, its last error without the traceback, its exit code.'

export const CODE: readonly Entry[] = [
  entry({
    id: 'kernrl',
    title: 'KernRL',
    required: 'code',
    suits: named(/kernrl|kernel/i),
    tools: [
      {
        tool: tool('submit_kernel', 'Compile, check and time a kernel.', { code: text('CUDA or Triton source') }),
        fields: { code: argument('code') },
      },
    ],
    observation: 'The task; after a kernel, what was found out about it.',
    text: kernelText,
    needs: ['a GPU, torch and triton'],
    unrecorded: 'It needs a GPU.',
    notes: ['Ends after ten turns at most.'],
  }),
  entry({
    id: 'repl',
    title: 'REPL',
    required: null,
    suits: (facts) =>
      facts.required.every((field) => field === 'code') && (mentions('final_answer')(facts) || named(/\brepl\b|repl[_-]env/i)(facts)),
    tools: [
      { tool: tool('run', 'Run Python code.', { code: text('Python source') }), fields: { code: argument('code') } },
      {
        tool: tool('finish', 'Give the final answer.', { answer: text('The final answer') }),
        fields: { code: constant(''), is_final: constant(true), final_answer: argument('answer') },
      },
    ],
    observation: PROGRAM,
    text: programText,
    notes: [
      'Up to 30 iterations. A model inside the environment (sub-LLM) is optional and belongs to the server.',
      'Reset takes context, task_prompt and expected_answer. Without the last, which this page does not send, no answer is worth more than 0; ' +
        'an error costs 0.05, and no answer at all 0.1.',
    ],
    sessions: 8,
    evidence: 'played',
    recording: 'environments/repl.json',
  }),
  entry({
    id: 'coding',
    title: 'Coding',
    required: 'code',
    tools: [{ tool: tool('run', 'Run Python code.', { code: text('Python source') }), fields: { code: argument('code') } }],
    observation: PROGRAM,
    text: programText,
    quirks: [neverDone('It')],
    notes: ['The reward looks at the code alone: +0.1 when it is short, -0.2 for a syntax error, -1 for import os, eval or open.'],
    evidence: 'played',
    recording: 'environments/coding.json',
  }),
  entry({
    id: 'julia',
    title: 'Julia',
    required: 'core_code',
    tools: [
      {
        tool: tool('run', 'Run Julia code, with tests if you like.', { code: text('Julia source'), tests: text('Julia tests') }, ['tests']),
        fields: { core_code: argument('code'), test_code: argument('tests') },
      },
    ],
    observation: PROGRAM,
    text: programText,
    needs: ['Julia on the server'],
    unrecorded: 'Julia is on no package registry, and was not installed where the others were recorded.',
    notes: ['Rewards lie between -1 and 1.5.'],
    sessions: null,
  }),
  entry({
    id: 'git',
    title: 'Git',
    required: 'action_type',
    suits: (facts) =>
      facts.choices['action_type']?.includes('clone_repo') === true ||
      (facts.choices['action_type'] === undefined && named(/\bgit[_-]?env|GitAction/)(facts)),
    tools: [
      { tool: tool('list_repos', 'List the repositories.', {}), fields: { action_type: constant('list_repos') } },
      {
        tool: tool('clone_repo', 'Clone a repository.', { repo_name: text('Its name') }),
        fields: { action_type: constant('clone_repo'), repo_name: argument('repo_name') },
      },
      {
        tool: tool(
          'execute_git_command',
          'Run a git command in a repository.',
          { command: text('E.g. log --oneline'), repo_name: text('Its name') },
          ['repo_name'],
        ),
        fields: { action_type: constant('execute_git_command'), command: argument('command'), repo_name: argument('repo_name') },
      },
    ],
    observation: 'JSON.',
    needs: ['a Gitea server'],
    unrecorded: 'A Gitea server was not installed where the others were recorded.',
    notes: ['Reset takes a task_id.'],
  }),
  entry({
    id: 'tbench2',
    title: 'Terminal-Bench 2',
    required: null,
    suits: (facts) =>
      facts.choices['action_type']?.includes('evaluate') === true ||
      (facts.choices['action_type'] === undefined && named(/tbench2?/i)(facts)),
    tools: [
      {
        tool: tool('exec', 'Run a shell command.', { command: text('The command') }),
        fields: { action_type: constant('exec'), command: argument('command') },
      },
      { tool: tool('evaluate', 'Have the work judged; this ends the episode.', {}), fields: { action_type: constant('evaluate') } },
    ],
    observation: 'JSON.',
    needs: ['Docker on the server'],
    unrecorded: 'Its tasks are downloaded, and could not be where the others were recorded.',
    notes: ['The actions write, view, wait, kill, write_file and close are left out.', 'Only evaluate gives a reward, 0 or 1.'],
    sessions: 8,
  }),
  entry({
    id: 'coding_tools',
    title: 'Coding tools',
    family: 'mcp',
    offers: ['bash', 'submit_solution'],
    prompts: { system: 'Solve the task with the tools, then call submit_solution.', user: '' },
    observation: RESULT,
    needs: [E2B],
    unrecorded: PAID,
    notes: ['Done after submit_solution; the reward is the share that was verified.', 'Reset takes setup and verify.'],
    sessions: null,
  }),
  entry({
    id: 'jupyter',
    title: 'Jupyter',
    family: 'mcp',
    offers: ['add_and_execute_code_cell', 'final_answer'],
    prompts: { system: 'Solve the task in the notebook, then call final_answer.', user: '' },
    observation: RESULT,
    needs: [E2B],
    unrecorded: PAID,
    sessions: null,
  }),
  entry({
    id: 'opencode',
    title: 'OpenCode',
    family: 'mcp',
    offers: ['run_rollout'],
    observation: RESULT,
    needs: [E2B, 'an LLM endpoint'],
    unrecorded: PAID,
    notes: [
      'One call is a whole run of another agent with another model: there is nothing here for this page’s model to learn.',
      'Removed from OpenEnv in 0.9.',
    ],
    sessions: null,
  }),
  entry({
    id: 'terminus',
    title: 'Terminus',
    family: 'mcp',
    offers: ['terminal'],
    more: false,
    prompts: { system: 'Solve the task in the terminal.', user: '' },
    observation: RESULT,
    needs: [E2B],
    unrecorded: PAID,
    sessions: null,
  }),
]
