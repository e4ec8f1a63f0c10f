import { expect, test } from 'vitest';
import { safeMarkdown } from '../../src/context/wiki/safe-markdown.ts';
import { readMarkdown } from '../../src/sources/documents/read-markdown.ts';

test.for([
  ['Paid <img src=https://example.com/x> orders', 'Paid \\<img src=https://example.com/x> orders'],
  ['Paid ![x](https://example.com/x) orders', 'Paid \\![x](https://example.com/x) orders'],
  ['Paid <!-- hidden', 'Paid \\<!-- hidden'],
  ['`a`` <script>x</script>', '`a`` \\<script>x\\</script>'],
  ['`<img src=x>``', '`\\<img src=x>``'],
  ['\\`<img src=x>`', '\\`\\<img src=x>`'],
  ['[pay](javascript:x)', '[pay\\](javascript:x)'],
  ['[pay]( <data:text/html,x>)', '[pay\\]( \\<data:text/html,x>)'],
] as const)('%s shows, loads and runs nothing', ([text, safe]) => {
  expect(safeMarkdown(text)).toBe(safe);
});

test.for(['a < b and b > c', '`List<string>` of ids', '[the page](https://example.com)', '5 <6'])(
  '%s stays as it is',
  (text) => {
    expect(safeMarkdown(text)).toBe(text);
    expect(readMarkdown(text)).toBeDefined();
  },
);
