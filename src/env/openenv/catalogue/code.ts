/** Environments in which code or commands are run. */

import { isRecord } from '../../../core/records'
import type { ObservationFrame } from '../protocol'
import { withRest } from './rest'
import { argument, constant, entry, neverDone, text, tool, type Entry } from './entry'

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
const RESULT = 'The tool’s result.'
/** KernRL's fields: the task is told once, and what was measured is in the feedback. */
const KERNEL = (
  'problem_id problem_description reference_code gpu_info turn max_turns feedback compilation_success compilation_error correctness_pass max_diff speedup'
).split(' ')
const readProgram = withRest(programText, ['result', 'stdout', 'stderr', 'exit_code', 'available_variables', 'context_length', 'iteration', 'max_iterations'])
const PROGRAM = 'What the program printed, its last error without the traceback, its exit code.'

export const CODE: readonly Entry[] = [
  entry({
    id: 'kernrl',
    title: 'KernRL',
    required: 'code',
    action: { code: { type: 'string' } },
    titles: ['KernelAction'],
    marks: ['problem_id', 'best_speedup'],
    called: ['kernrl'],
    tools: [
      {
        tool: tool('submit_kernel', 'Compile, check and time a kernel.', { code: text('CUDA or Triton source') }),
        fields: { code: argument('code') },
      },
    ],
    observation: 'The task; after a kernel, what was found out about it.',
    text: withRest(kernelText, KERNEL),
    needs: ['a GPU, torch and triton'],
    unrecorded: 'It needs a GPU.',
    notes: ['Ends after ten turns at most.'],
  }),
  entry({
    id: 'repl',
    title: 'REPL',
    required: '',
    alsoRequired: ['code'],
    action: { code: { type: 'string' }, final_answer: { type: 'string' } },
    titles: ['REPLAction'],
    marks: ['namespace_keys', 'max_iterations'],
    called: ['repl'],
    tools: [
      { tool: tool('run', 'Run Python code.', { code: text('Python source') }), fields: { code: argument('code') } },
      {
        tool: tool('finish', 'Give the final answer.', { answer: text('The final answer') }),
        fields: { code: constant(''), is_final: constant(true), final_answer: argument('answer') },
      },
    ],
    observation: PROGRAM,
    text: readProgram,
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
    action: { code: { type: 'string' } },
    titles: ['CodeAction'],
    marks: ['last_exit_code'],
    called: ['coding'],
    tools: [{ tool: tool('run', 'Run Python code.', { code: text('Python source') }), fields: { code: argument('code') } }],
    observation: PROGRAM,
    text: readProgram,
    quirks: [neverDone('It')],
    notes: ['The reward looks at the code alone: +0.1 when it is short, -0.2 for a syntax error, -1 for import os, eval or open.'],
    evidence: 'played',
    recording: 'environments/coding.json',
  }),
  entry({
    id: 'julia',
    title: 'Julia',
    required: 'core_code',
    action: { core_code: { type: 'string' } },
    titles: ['JuliaAction'],
    isRare: true,
    tools: [
      {
        tool: tool('run', 'Run Julia code, with tests if you like.', { code: text('Julia source'), tests: text('Julia tests') }, ['tests']),
        fields: { core_code: argument('code'), test_code: argument('tests') },
      },
    ],
    observation: PROGRAM,
    text: readProgram,
    needs: ['Julia on the server'],
    unrecorded: 'Julia is on no package registry, and was not installed where the others were recorded.',
    notes: ['Rewards lie between -1 and 1.5.'],
    sessions: null,
  }),
  entry({
    id: 'git',
    title: 'Git',
    required: 'action_type',
    alsoRequired: [''],
    action: { action_type: { type: 'string', among: ['list_repos', 'clone_repo', 'execute_git_command'] } },
    titles: ['GitAction'],
    marks: ['gitea_ready'],
    called: ['git'],
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
    required: '',
    alsoRequired: ['action_type'],
    action: { action_type: { type: 'string', among: ['exec', 'evaluate'] } },
    titles: ['Tbench2Action'],
    marks: ['terminal_ready', 'task_path'],
    called: ['tbench2', 'tbench', 'terminalbench2', 'terminalbench'],
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
