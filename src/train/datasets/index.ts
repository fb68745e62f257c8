/** TRL's dataset formats, from text to masked tokens. */

export { dpoExamples, sftExamples, type Example, type PairExample, type Prepared } from './examples'
export { demonstrations, preferences } from './from-play'
export { limited, MOST_ROWS, readRows, type PlacedRow, type ReadRows, type RowProblem } from '../../core/rows'
