/** A dataset of prompts as a run has read it: plain data, for the page, the run's record and exports. */

/** Where on the Hub rows are, to be found again. */
export interface DatasetPlace {
  /** 'owner/name'. */
  repo: string
  /** As it was asked for. */
  revision: string
  /** The commit that the revision was at. */
  sha: string
  config: string
  split: string
}

export interface DatasetFacts {
  /** For people: the dataset's id, a file's name, "arithmetic". */
  name: string
  /** Absent where the rows came from elsewhere than the Hub. */
  place?: DatasetPlace
  /** Rows that are trained on, and rows that never are. */
  rows: number
  heldOut: number
  /** Beside the prompt: what reward functions get. */
  columns: string[]
}

/** The dataset in one word, with its commit where it has one: 'owner/name@0123456'. */
export function datasetLabel({ name, place }: Pick<DatasetFacts, 'name' | 'place'>): string {
  return place ? `${place.repo}@${place.sha.slice(0, 7)}` : name
}
