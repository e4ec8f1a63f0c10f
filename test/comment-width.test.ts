import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const width = 100;

/** The formatter breaks code at this width, but no comment. One long word may be wider. */
test('no line of a comment is wider than the code', () => {
  const files = globSync('{src,test,bench,scripts,web}/**/*.{ts,tsx,mjs}');
  const wide = files.flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .flatMap((line, index) => {
        const [, text = ''] = /^\s*(?:\/\/|\/\*\*|\*) (.*)$/.exec(line) ?? [];
        const isBreakable = text.includes(' ') && !/^(?:@ts-|oxlint-)/.test(text);
        return line.length > width && isBreakable ? [`${file}:${index + 1}`] : [];
      }),
  );
  expect(files.length).toBeGreaterThan(1000);
  expect(wide).toEqual([]);
});
