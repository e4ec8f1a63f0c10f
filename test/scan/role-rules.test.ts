import { expect, test } from 'vitest';
import { foundJoins } from '../support/found-joins.ts';

test('what was done with another row refers to the same table', async () => {
  const { accepted } = await foundJoins(`
entry 900
  id serial !
  reversed_entry_id >entry.id null=.9
  copied_from_id >entry.id null=.8
  posted date
partner 300
  id serial !
  title words
entry_line 2000
  id serial !
  entry_id >entry.id
  amount num=90
`);
  expect(accepted).toEqual([
    'entry.copied_from_id -> entry.id',
    'entry.reversed_entry_id -> entry.id',
    'entry_line.entry_id -> entry.id',
  ]);
});

test('a role is read where it is written together with the name of the table', async () => {
  const { accepted } = await foundJoins(`
warengruppe 90
  wgrnr serial=10 !
  bez words
  obergruppe >warengruppe.wgrnr null=.2 share=.3
artikel 600
  artnr serial=1000 !
  ersatzartikel >artikel.artnr null=.8
  wgrnr >warengruppe.wgrnr
`);
  expect(accepted).toEqual([
    'artikel.ersatzartikel -> artikel.artnr',
    'artikel.wgrnr -> warengruppe.wgrnr',
    'warengruppe.obergruppe -> warengruppe.wgrnr',
  ]);
});

test('who did it is a row of the same table as well', async () => {
  const { accepted } = await foundJoins(`
member 60
  id serial !
  login words
  invited_by >member.id null=.4 share=.5
visit 500
  id serial !
  member_id >member.id
`);
  expect(accepted).toEqual(['member.invited_by -> member.id', 'visit.member_id -> member.id']);
});

test('references under names of roles are known by their ends, and other numbers by theirs', async () => {
  const { accepted } = await foundJoins(`
party 700
  party_id serial !
  title words
lawsuit 900
  lawsuit_id serial !
  plaintiff_id >party.party_id
  defendant_id >party.party_id
  docket_no int=1..340
court_room 60
  court_room_id serial !
  seats int=4..90
`);
  expect(accepted).toEqual([
    'lawsuit.defendant_id -> party.party_id',
    'lawsuit.plaintiff_id -> party.party_id',
  ]);
});

test('a table of few rows refers to what the columns of its name refer to in other tables', async () => {
  const tables = (name: string, rows: number): string => `
${name} ${rows}
  ${name}_id serial !
  last_edited_by >people.person_id share=.1
  title words
`;
  const { accepted } = await foundJoins(`
people 400
  person_id serial !
  born date
${tables('orders', 900)}${tables('invoices', 700)}${tables('parcels', 500)}${tables('buying_groups', 3)}${tables('colours', 12)}
`);
  expect(accepted).toEqual(
    ['buying_groups', 'colours', 'invoices', 'orders', 'parcels'].map(
      (name) => `${name}.last_edited_by -> people.person_id`,
    ),
  );
});

test('a flag refers to nothing, and a kind to the table of kinds of its own table', async () => {
  const { accepted } = await foundJoins(`
company 3
  id serial=0 !
  title words
partner 900
  id serial=100 !
  is_company int=0..1
  company_id >company.id
release_group 500
  id serial=2000 !
  type >release_group_primary_type.id null=.1
release_group_primary_type 11
  id serial !
  label words
`);
  expect(accepted).toEqual([
    'partner.company_id -> company.id',
    'release_group.type -> release_group_primary_type.id',
  ]);
});

test('a table may be called by a label of several words', async () => {
  const { accepted } = await foundJoins(`
product_line 60
  product_line words !
  remark words
product 500
  code code=P !
  product_line >product_line.product_line
`);
  expect(accepted).toEqual(['product.product_line -> product_line.product_line']);
});

test('a declared key of several columns is referred to as a whole, though one of them would do', async () => {
  const { accepted } = await foundJoins(
    `
orders 400 key=client,order_no
  client oneof=100
  order_no serial=1
  placed date
item 1500 key=client,order_no,line
  (client,order_no) >orders(client,order_no)
  line int=1..9
`,
    'keys',
  );
  expect(accepted).toEqual(['item.client,order_no -> orders.client,order_no']);
});

test('a key that leaves numbers out and reaches the ends of another is taken from there', async () => {
  const text = (key: string): string => `
person 900
  person_id serial !
  born date
patient 300
  patient_id ${key} !
  ward int=1..6
stay 1200
  stay_id serial !
  patient_id >patient.patient_id
`;
  const ofPersons = await foundJoins(text('=person.person_id+1*3'));
  expect([...ofPersons.accepted, ...ofPersons.review]).toContain(
    'patient.patient_id -> person.person_id',
  );
  const own = await foundJoins(text('serial'));
  expect([...own.accepted, ...own.review]).toEqual(['stay.patient_id -> patient.patient_id']);
});

test('numbers of which many are missing in the other table are for a person to decide', async () => {
  const { accepted, review } = await foundJoins(`
web_page 60
  web_page_id serial !
  address words
visit 600
  visit_id serial=9000 !
  web_page_no int=1..110
`);
  expect(accepted).toEqual([]);
  expect(review).toEqual(['visit.web_page_no -> web_page.web_page_id']);
});

test('columns that refer to the same things end on the same copy of them', async () => {
  const { accepted, links } = await foundJoins(`
raw_customers 200
  customer_id serial !
  country words
dim_customers 180
  customer_id serial !
  country words
orders 900
  order_id serial=1000 !
  customer_id >raw_customers.customer_id
  ship_to_customer_id >dim_customers.customer_id
`);
  expect(accepted).toEqual([
    'orders.customer_id -> raw_customers.customer_id',
    'orders.ship_to_customer_id -> raw_customers.customer_id',
  ]);
  const roles = links.filter(({ status }) => status === 'accepted').map(({ role }) => role);
  expect(roles).toEqual(['customer', 'ship_to']);
});

test('where both copies have all values, the columns end on the one that people ask', async () => {
  const { accepted } = await foundJoins(`
raw_customers 200
  customer_id serial !
  country words
dim_customers 200
  customer_id serial !
  country words
orders 900
  order_id serial=1000 !
  customer_id >raw_customers.customer_id
  ship_to_customer_id >dim_customers.customer_id
`);
  expect(accepted).toEqual([
    'orders.customer_id -> dim_customers.customer_id',
    'orders.ship_to_customer_id -> dim_customers.customer_id',
  ]);
});
