/** Words of the tiny model's small language. */

/** Words that the tokenizer knows whole; echo itself plays with a third of them. */
export const ECHO_CORPUS: readonly string[] = [
  'apple', 'bird', 'boat', 'book', 'bread', 'cloud', 'door', 'fire', 'fish', 'flower', 'garden', 'gold',
  'green', 'hand', 'house', 'lake', 'leaf', 'light', 'moon', 'music', 'night', 'paper', 'rain', 'red',
  'river', 'road', 'snow', 'star', 'stone', 'sun', 'table', 'tree', 'water', 'white', 'wind', 'winter',
]
