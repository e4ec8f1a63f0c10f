/** The words of a slash command; quotes keep spaces in a name. */
export function splitWords(argument: string): readonly string[] {
  const words = argument.match(/"[^"]*"|'[^']*'|\S+/g) ?? [];
  return words.map((word) => word.replace(/^(["'])(.*)\1$/s, '$2'));
}
