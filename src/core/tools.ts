/** Tools as JSON schema, in the key order that TRL and transformers' get_json_schema use. */

export interface JsonSchema {
  type?: string
  description?: string
  enum?: readonly (string | number | boolean)[]
  properties?: Record<string, JsonSchema>
  required?: readonly string[]
  items?: JsonSchema
  [key: string]: unknown
}

/** What stands in the prompt, one JSON line each. */
export interface Tool {
  type: 'function'
  function: { name: string; description: string; parameters: JsonSchema; /** What it gives back, where it says so. */ return?: JsonSchema }
}

export interface ToolCall {
  name: string
  arguments: Record<string, unknown>
}

export interface ChatMessage {
  role: 'system' | 'user' | 'assistant' | 'tool'
  content: string
  name?: string
  /** What an assistant thought before it spoke, where it stands apart from the content. */
  reasoning_content?: string
  tool_calls?: { type: 'function'; function: ToolCall }[]
}
