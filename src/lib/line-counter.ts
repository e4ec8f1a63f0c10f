/**
 * Gives the line of an index, from 1. The indexes that it is asked for may only grow: so each
 * character is looked at once, however many are asked for.
 */
export function countLines(text: string): (index: number) => number {
  let line = 1;
  let next = text.indexOf('\n');
  return (index) => {
    while (next >= 0 && next < index) {
      line += 1;
      next = text.indexOf('\n', next + 1);
    }
    return line;
  };
}
