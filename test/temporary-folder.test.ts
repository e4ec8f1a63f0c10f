import { tmpdir } from 'node:os';
import { expect, inject, test } from 'vitest';

test('temporary files of tests go into a folder that is removed at the end of the run', () => {
  expect(tmpdir()).toBe(inject('temporaryFolder'));
});
