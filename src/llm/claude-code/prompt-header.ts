/**
 * Puts a fixed line first: foreign text at the start could begin with a slash and run a command.
 */
export function withPromptHeader(text: string): string {
  return `A task from ktx follows.\n\n${text}`;
}
