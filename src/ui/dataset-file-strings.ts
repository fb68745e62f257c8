/** Words of a dataset that comes out of a file, wherever it is given. */

export const DATASET_FILE_STRINGS = {
  file: 'Choose a file',
  drop: 'or drop a JSONL or Parquet file here.',
  many: 'Drop one file at a time.',
  wrongFile: (name: string) => `${name} is neither JSONL nor Parquet. Choose a .jsonl or .parquet file.`,
}
