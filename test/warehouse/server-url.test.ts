import { expect, test } from 'vitest';
import { serverUrlSchema } from '../../src/warehouse/server-url.ts';

const schema = serverUrlSchema(
  ['postgres:', 'postgresql:'],
  'postgresql://user@host:5432/database',
);

test.each(['postgres://me@host:5432/shop', 'env:WAREHOUSE_URL', 'file:secret/url', undefined])(
  'the address %s is taken',
  (url) => {
    expect(schema.parse(url)).toBe(url);
  },
);

test.each(['5432/shop', 'host/shop', 'mysql://host/shop', 'postgres://me:word@host:port/shop'])(
  'the address %s is none, which says nothing of passwords and repeats none',
  (url) => {
    const [issue, ...others] = schema.safeParse(url).error?.issues ?? [];
    expect(issue?.message).toContain('not an address like postgresql://user@host:5432/database');
    expect(others).toEqual([]);
  },
);

test.each(['postgres://me:word@host/shop', 'postgres://host/shop?password=word'])(
  'the address %s has a password, which has no place in a file',
  (url) => {
    expect(schema.safeParse(url).error?.issues[0]?.message).toMatch(/^a password is never written/);
  },
);
