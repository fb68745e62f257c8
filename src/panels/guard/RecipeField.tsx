/** Which named recipe the settings of the loss are, and how to take another: it says in one line what differs from TRL's defaults. */

import { useId, useState } from 'react'
import { useSetup, useStores } from '../../store/hooks'
import { changesOf, RECIPE_IDS, type RecipeId, recipeOf, recipeRefused, RECIPES, withRecipe } from '../../store/recipes'
import { GUARD_STRINGS } from '../../ui/guard-strings'
import { Help } from '../../ui/Help'

const W = GUARD_STRINGS.recipe
const OWN = 'own'
const nameOf = (id: RecipeId) => (id === 'trl' ? W.trl : RECIPES[id].name)

export function RecipeField() {
  const id = useId()
  const { controller, setup } = useStores()
  const grpo = useSetup((s) => s.config.grpo)
  const [refused, setRefused] = useState<{ why: string; beside: typeof grpo } | null>(null)
  const recipe = recipeOf(grpo)
  const changes = changesOf(grpo)
  // What was refused beside other settings may fit these.
  const why = refused?.beside === grpo ? refused.why : null

  const choose = (text: string) => {
    const wanted = RECIPE_IDS.find((each) => each === text)
    if (!wanted) return
    const { config } = setup.getState()
    const problem = recipeRefused(config, wanted)
    if (problem) setRefused({ why: W.refused(nameOf(wanted), problem), beside: config.grpo })
    else controller.edit((now) => withRecipe(now, wanted))
  }
  return (
    <div className="field recipe" data-testid="recipe">
      <label htmlFor={id}>{W.name}</label>
      <Help of={`recipe:${recipe ?? OWN}`} name={recipe ? nameOf(recipe) : W.name} />
      <select id={id} data-testid="recipe-select" value={recipe ?? OWN} aria-describedby={`${id}-what`} onChange={(e) => choose(e.target.value)}>
        {recipe === null && <option value={OWN}>{W.own}</option>}
        {RECIPE_IDS.map((each) => (
          <option key={each} value={each}>
            {nameOf(each)}
          </option>
        ))}
      </select>
      <p className="note" id={`${id}-what`} data-testid="recipe-changes">
        {changes.length > 0 ? W.changes(changes.join(', ')) : W.same}
      </p>
      {why && (
        <p className="why" role="alert">
          {why}
        </p>
      )}
    </div>
  )
}
