/** The page's style sheets, in the order in which they build on each other. */

import './theme.css'
import './layout.css'
import './controls.css'
import './panels.css'
import './tokens.css'
