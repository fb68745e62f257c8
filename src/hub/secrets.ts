/** Keeps tokens of the Hub out of what leaves the page. */

/** A text without anything in the form of a Hub token; names that only begin with hf_ stay. */
export function withoutTokens(text: string): string {
  return text.replace(/hf_(oauth_[\w.-]{16,}|[A-Za-z0-9]{24,})/g, 'hf_…')
}
