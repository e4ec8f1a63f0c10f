import { expect, test } from 'vitest';
import { placeLabels } from '../../web/graph/place-labels.ts';

const join = (role: string, to = 'customers') => ({
  join: { subject: `relationship:shop.orders(${role})`, from: 'orders', to, role },
  points: [
    { x: 40, y: 20 },
    { x: 110, y: 20 },
    { x: 180, y: 20 },
  ],
});
type Placed = Parameters<typeof placeLabels>[1];

test('the roles of joins that run beside each other stand beside each other', () => {
  const roles = ['buyer_account', 'recipient', 'payer', 'agent'];
  const datasets = [
    { name: 'orders', x: 20, y: 20, width: 40, height: 18 },
    { name: 'customers', x: 210, y: 20, width: 60, height: 18 },
  ];
  const placed = placeLabels(datasets, roles.map((role) => join(role)) as unknown as Placed);
  expect(placed.size).toBe(4);
  const boxes = roles.map((role) => {
    const { x, y } = placed.get(`relationship:shop.orders(${role})`) ?? { x: 0, y: 0 };
    const half = (role.length * 5.6) / 2;
    return { left: x - half, right: x + half, top: y - 9, bottom: y + 2 };
  });
  for (const [index, a] of boxes.entries()) {
    for (const b of boxes.slice(index + 1))
      expect(a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom).toBe(
        false,
      );
    expect(a.left).toBeGreaterThan(40);
    expect(a.right).toBeLessThan(180);
  }
  // A join that has the name of its dataset has no role to show.
  expect(placeLabels(datasets, [join('customers')] as unknown as Placed).size).toBe(0);
});
