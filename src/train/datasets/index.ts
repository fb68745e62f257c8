/** TRL's dataset formats, from text to masked tokens. */

export { dpoExamples, sftExamples, type Example, type PairExample, type Prepared } from './examples'
export { demonstration, demonstrations, preferences, type PlayedIn, whyNoChat } from './from-play'
export { COLUMNS } from './formats'
export { limited, MOST_ROWS, readRows, type PlacedRow, type ReadRows, type RowProblem } from '../../core/rows'
