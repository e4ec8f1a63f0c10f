import { expect, test } from 'vitest';
import { validateXML } from 'xmllint-wasm';
import { drawSvg } from '../../src/project/graph/draw-svg.ts';

test('a picture has every table once and every join, whatever the names are', async () => {
  const join = { label: 'customer_id', isInDoubt: false };
  const hostile = '<script>alert("1")</script> & \u0001 \ud800';
  const svg = drawSvg({
    title: 'The joins of a < b',
    joins: [
      { ...join, from: 'orders', to: 'customers' },
      { ...join, from: 'orders', to: 'customers', label: 'recipient', isInDoubt: true },
      { ...join, from: 'staff', to: 'staff', label: 'a_long_name_of_a_manager', isInDoubt: true },
      { ...join, from: hostile, to: 'orders', label: hostile },
    ],
    alone: ['calendar'],
  });
  const { valid, errors } = await validateXML({
    xml: [{ fileName: 'a.svg', contents: svg }],
    normalization: 'format',
  });
  expect({ valid, errors }).toEqual({ valid: true, errors: [] });
  const names = [...svg.matchAll(/class="name"[^>]*>([^<]*)</g)].map(([, name]) => name);
  expect(names).toEqual([
    'orders',
    'customers',
    'staff',
    '&lt;script>alert("1")&lt;/script> &amp;   \ufffd',
    'calendar',
  ]);
  expect(svg.match(/class="join"/g)).toHaveLength(2);
  expect(svg.match(/class="join doubt"/g)).toHaveLength(2);
  // The label of a loop is within the picture.
  const width = Number(/viewBox="0 0 (\d+)/.exec(svg)?.[1]);
  const middle = Number(/x="([\d.]+)"[^>]*>a_long_name_of_a_manager/.exec(svg)?.[1]);
  expect(middle + 70).toBeLessThan(width);
});
