/** The page's style sheets, in the order in which they build on each other. */

import './theme.css'
import './layout.css'
import './fields.css'
import './controls.css'
import './notices.css'
import './panels.css'
import './task.css'
import './model.css'
import './tokens.css'
import './curves.css'
import './chat.css'
import './environment.css'
