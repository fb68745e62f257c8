/** Trajectories taken away and brought back: JSONL and Parquet with one set of columns. */

export { columnsOf } from './columns'
export { readTrajectories, type Trajectories } from './read'
export { trajectoriesJsonl, trajectoriesParquet } from './write'
