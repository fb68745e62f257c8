/** Properties of a class that hold a function, which look like methods and are none: no model can call them. */

import type { Class, PropertyDefinition } from 'acorn'

/** Such a property, and what a person should know of it. */
export interface FunctionField {
  key: PropertyDefinition['key']
  message: string
}

/** `chain`: the class and those that it extends; `methods`: names that are methods of theirs; `kept`: methods that are no tools, but asked by the page. */
export function functionFields(chain: readonly Class[], methods: ReadonlySet<string>, kept: readonly string[], code: string): FunctionField[] {
  const fields: FunctionField[] = []
  const seen = new Set(methods)
  for (const node of chain.flatMap(({ body }) => body.body)) {
    if (node.type !== 'PropertyDefinition' || node.static || node.computed || node.key.type !== 'Identifier') continue
    const { key, value } = node
    const { name } = key
    if ((value?.type !== 'ArrowFunctionExpression' && value?.type !== 'FunctionExpression') || name.startsWith('_') || seen.has(name)) continue
    seen.add(name)
    const [first, last] = [value.params[0], value.params.at(-1)]
    const params = first && last ? code.slice(first.start, last.end).replaceAll(/\s+/g, ' ') : ''
    const method = `${value.async ? 'async ' : ''}${name}(${params}) { … }`
    fields.push({
      key,
      message: kept.includes(name)
        ? `${name} is a property that holds a function, and is never asked. Write it as a method: ${method}.`
        : `${name} is a property that holds a function, and no tool: the model cannot call it. Write it as a method, ${method}, or begin its name with _ where the model is not to see it.`,
    })
  }
  return fields
}
