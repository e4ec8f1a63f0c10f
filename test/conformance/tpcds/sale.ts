import { type Dice, money } from '../seeded.ts';

/** One item of a sale, and how much of it came back. Amounts in cents. */
export interface Line {
  readonly item: number;
  readonly quantity: number;
  /** As text, in the order of the standard. */
  readonly money: Readonly<
    Record<
      | 'wholesale'
      | 'list'
      | 'price'
      | 'extDiscount'
      | 'extSales'
      | 'extWholesale'
      | 'extList'
      | 'tax'
      | 'coupon'
      | 'paid'
      | 'profit'
      | 'ship',
      string
    >
  >;
  readonly returned: number;
  readonly refund: number;
  readonly loss: number;
  readonly fee: number;
  readonly cash: number;
}

export function lineOf(dice: Dice, item: number): Line {
  const quantity = dice.between(1, 100);
  const wholesale = dice.between(100, 10_000);
  const list = wholesale + dice.between(0, wholesale);
  const price = Math.round((list * dice.between(30, 100)) / 100);
  const sold = price * quantity;
  const coupon = dice.next() < 0.2 ? Math.round((sold * dice.between(1, 60)) / 100) : 0;
  const paid = sold - coupon;
  const returned = dice.next() < 0.12 ? dice.between(1, quantity) : 0;
  const refund = price * returned;
  const amounts = {
    wholesale,
    list,
    price,
    extDiscount: (list - price) * quantity,
    extSales: sold,
    extWholesale: wholesale * quantity,
    extList: list * quantity,
    tax: Math.round((paid * dice.between(0, 9)) / 100),
    coupon,
    paid,
    profit: paid - wholesale * quantity,
    ship: dice.between(0, Math.round(sold / 5)),
  };
  const texts = Object.fromEntries(
    Object.entries(amounts).map(([name, cents]) => [name, money(cents)]),
  ) as Line['money'];
  return {
    item,
    quantity,
    money: texts,
    returned,
    refund,
    loss: dice.between(50, 5000),
    fee: dice.between(50, 10_000),
    cash: Math.round((refund * dice.between(20, 100)) / 100),
  };
}
