/** What an environment is called: its name out of hosts, Space ids and metadata, compared by whole words. */

/** Words that say nothing about which environment it is, at the end of a name. */
const EMPTY_WORDS = /^(env|envs|environment|openenv|server|demo|v?\d+)$/

/** Words in lower case, camel case and separators apart: `SnakeEnvironment` → snake, environment. */
const wordsOf = (name: string): string[] =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '')

/** Owners of the Space ids among the names; they are no part of a Space's name. */
function ownersOf(names: readonly string[]): string[][] {
  return names.flatMap((name) => (name.includes('/') ? [wordsOf(name.slice(0, name.lastIndexOf('/')))] : []))
}

/** The words by which one of the names calls its environment, and whether an owner whom we do not know may stand before them. */
function nameIn(name: string, owners: readonly string[][]): { words: string[]; hasOwner: boolean } {
  if (name.includes('/')) return { words: wordsOf(name.slice(name.lastIndexOf('/') + 1)), hasOwner: false }
  const labels = name.replace(/:\d+$/, '').split('.')
  if (labels.length === 1) return { words: wordsOf(name), hasOwner: false }
  if (!/\.hf\.space$/i.test(name)) return { words: labels.length > 2 ? wordsOf(labels[0] ?? '') : [], hasOwner: false }
  const words = wordsOf(labels[0] ?? '')
  const owner = owners.find((each) => each.every((word, i) => word === words[i]))
  return owner === undefined ? { words, hasOwner: true } : { words: words.slice(owner.length), hasOwner: false }
}

/**
 * Whether one of the names (hosts, Space ids, names from metadata, apart by spaces) ends with one of `called` (lower case, without separators:
 * `dmcontrol`), words like `env` aside. Whole words alone count, an owner's name and a registered domain do not.
 */
export function isCalled(names: string, called: readonly string[]): boolean {
  const all = names.split(/\s+/).filter((name) => name !== '')
  const owners = ownersOf(all)
  return all.some((name) => {
    const { words, hasOwner } = nameIn(name, owners)
    while (words.length > 0 && EMPTY_WORDS.test(words.at(-1) ?? '') && !called.includes(words.at(-1) ?? '')) words.pop()
    // `dm-control` and `dmcontrol` are one; whatever begins a host of a Space may be its owner.
    return words.some((_, i) => (i > 0 || !hasOwner) && called.includes(words.slice(i).join('')))
  })
}
