/** The environment's tools as the controls' edits make them, which the run takes over at Reset. */

import { useMemo } from 'react'
import { describeError } from '../../core/errors'
import { applyToolEdits, type ToolEdit } from '../../core/tool-edits'
import type { Tool } from '../../core/tools'
import { toolsFound } from '../../core/discovered'
import { playedConfig } from '../../store/play-store'
import { useSetup, useShown } from '../../store/hooks'

export interface DraftTool {
  /** The environment's own name. */
  id: string
  own: Tool
  /** null = left out. */
  tool: Tool | null
}

export interface Draft {
  tools: readonly DraftTool[]
  /** Why the edits cannot be made; the tools are then the environment's own. */
  error: string | null
}

/** Why these edits cannot be made on these tools; null when they can. */
export function whyNot(tools: readonly Tool[], edits: readonly ToolEdit[]): string | null {
  try {
    applyToolEdits(toolsFound('The environment', tools), edits)
    return null
  } catch (error) {
    return describeError(error)
  }
}

/** Of the environment that is played; null while none is connected. */
export function useDraft(): Draft | null {
  const own = useShown((view) => view.environment?.ownTools ?? null)
  const edits = useSetup((state) => playedConfig(state).tool_edits)
  return useMemo(() => {
    if (!own) return null
    const error = whyNot(own, edits)
    const found = applyToolEdits(toolsFound('', own), error === null ? edits : [])
    const tools = own.map((tool) => {
      const id = tool.function.name
      return { id, own: tool, tool: found.tools.find((each) => each.id === id)?.tool ?? null }
    })
    return { tools, error }
  }, [own, edits])
}
