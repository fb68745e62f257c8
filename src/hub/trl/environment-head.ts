/** What every environment.py begins with: imports, the tools word for word, the prompts; and which tool a renamed one is. */

import type { RunConfig } from '../../core/config'
import type { Tool } from '../../core/tools'
import type { ToolEdit } from '../../core/tool-edits'
import { docstring, py, pyString } from './python'

export interface EnvironmentHead {
  /** The module's docstring. */
  about: string
  imports: readonly string[]
  /** What is said of the tools beside that the model reads them as they stand here. */
  ofTools: string
  tools: readonly Tool[]
}

/** Lines up to the two empty ones before the class. */
export function environmentHead({ about, imports, ofTools, tools }: EnvironmentHead, { system_prompt, user_prompt }: Pick<RunConfig, 'system_prompt' | 'user_prompt'>): string[] {
  return [
    docstring(about, 0),
    '',
    'from __future__ import annotations',
    '',
    'from typing import Any, Literal  # noqa: F401',
    '',
    ...imports,
    '',
    `# What the model reads of the tools, word for word as on the page; ${ofTools}`,
    `TOOLS: list[dict[str, Any]] = ${py(tools)}`,
    '',
    `SYSTEM_PROMPT = ${pyString(system_prompt)}`,
    '# TRL appends what reset answers, with nothing between.',
    `USER_PROMPT = ${pyString(user_prompt)}`,
    '',
    '',
  ]
}

/** The environment's own name of a tool, by the name that the model calls. */
export function ownNames(edits: readonly ToolEdit[]): (name: string) => string {
  // Renamed twice, a tool has its last name.
  const last = new Map<string, string>()
  for (const edit of edits) if (edit.kind === 'rename') last.set(edit.tool, edit.name)
  const own = new Map([...last].map(([id, name]) => [name, id]))
  return (name) => own.get(name) ?? name
}
