/** The lint rule `rooms/imports`: which folder of src/ may import which other, and who may use a runtime package. */

import { posix } from 'node:path'

/** Rooms that a room may import besides itself. An entry with a slash is that one file. A file right under src/ is the room `page`. */
export const rooms = {
  core: [],
  graph: ['core'],
  model: ['core', 'graph'],
  artifacts: ['core', 'graph', 'model'],
  runtime: ['core', 'graph', 'model', 'artifacts'],
  rl: ['core'],
  env: ['core'],
  rollout: ['core', 'env'],
  train: ['core', 'env', 'rl', 'rollout'],
  hub: ['core', 'artifacts'],
  worker: ['core', 'graph', 'model', 'artifacts', 'runtime', 'rl', 'env', 'rollout', 'train', 'hub'],
  'service-worker': [],
  store: ['core', 'rl', 'env', 'hub', 'worker/protocol', 'ui'],
  ui: ['core', 'rl', 'env', 'worker/protocol', 'store'],
  panels: ['core', 'rl', 'env', 'hub', 'worker/protocol', 'store', 'ui'],
  page: ['core', 'rl', 'env', 'hub', 'worker/protocol', 'worker/client', 'service-worker/page', 'store', 'ui', 'panels'],
}

/** Packages that only these rooms may import: the others must run in Node with neither. */
export const packages = {
  'onnxruntime-web': ['runtime'],
  'onnxruntime-common': ['runtime'],
  react: ['ui', 'store', 'panels', 'page'],
  'react-dom': ['ui', 'panels', 'page'],
  katex: ['ui', 'panels', 'page'],
  recharts: ['ui', 'panels', 'page'],
  '@cortex-js/compute-engine': ['rl'],
  zustand: ['store', 'panels', 'page'],
}

/**
 * The complaint about `source` imported from `file`, or null. `file` is a path from the repository's root with forward
 * slashes; files outside src/ and tests may import anything.
 */
export function complaint(file, source) {
  if (!file.startsWith('src/') || /\.test\.tsx?$/.test(file)) return null
  const room = roomOf(file)
  if (!(room in rooms)) return `src/${room}/ is no room. Rooms are declared in e2e/tools/eslint-rooms.js.`
  const path = source.replace(/\?.*$/, '')
  if (!path.startsWith('.')) {
    const owner = Object.keys(packages).find(name => path === name || path.startsWith(`${name}/`))
    if (owner === undefined || packages[owner].includes(room)) return null
    return `${room}/ may not import ${owner}: only ${packages[owner].join(', ')} may.`
  }
  // The text of a file, not its program.
  if (source.endsWith('?raw')) return null
  const target = posix.normalize(posix.join(posix.dirname(file), path))
  if (!target.startsWith('src/')) return `${room}/ may not import ${target}: it lies outside src/.`
  const other = roomOf(target)
  if (other === room) return null
  const oneFile = target.slice('src/'.length).replace(/\.tsx?$/, '')
  if (rooms[room].includes(other) || rooms[room].includes(oneFile)) return null
  return `${room}/ may not import ${other}/. It may import: ${rooms[room].join(', ') || 'nothing'}.`
}

/** The folder under src/ that a file or an import target lies in; `page` for files right under src/. */
function roomOf(path) {
  const parts = path.split('/')
  if (parts.length > 2) return parts[1]
  // `../core` names the folder itself; `./app` names a file.
  return parts[1] in rooms ? parts[1] : 'page'
}

/** @type {import('eslint').Rule.RuleModule} */
const rule = {
  meta: { type: 'problem', schema: [] },
  create(context) {
    const file = posix.relative(context.cwd.replaceAll('\\', '/'), context.filename.replaceAll('\\', '/'))
    const check = node => {
      if (typeof node?.value !== 'string') return
      const message = complaint(file, node.value)
      if (message !== null) context.report({ node, message })
    }
    return {
      ImportDeclaration: node => check(node.source),
      ExportNamedDeclaration: node => check(node.source),
      ExportAllDeclaration: node => check(node.source),
      ImportExpression: node => check(node.source),
      TSImportType: node => check(node.source ?? node.argument?.literal),
    }
  },
}

export default { rules: { imports: rule } }
