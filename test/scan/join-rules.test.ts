import { expect, test } from 'vitest';
import { foundJoins } from '../support/found-joins.ts';

test('the prefix of its columns names a table', async () => {
  const { accepted } = await foundJoins(`
tClient 300
  cliIdent serial !
  cliNom words
  cliRang int=1..9
tDossier 700
  dosIdent serial !
  dosCliIdent >tClient.cliIdent
  dosEtat int=1..6
tMandat 310
  manIdent serial !
  manNom words
  manRang int=1..9
`);
  expect(accepted).toEqual(['tDossier.dosCliIdent -> tClient.cliIdent']);
});

test('the first word of many tables is that of their group', async () => {
  const { accepted } = await foundJoins(`
auth_user 90
  id serial !
  login words
auth_group 90
  id serial !
  label words
auth_token 400
  id sparse=1+3 !
  user_id >auth_user.id
  group_id >auth_group.id
`);
  expect(accepted).toEqual([
    'auth_token.group_id -> auth_group.id',
    'auth_token.user_id -> auth_user.id',
  ]);
});

test('a role may stand before the first letters of a name', async () => {
  const { accepted } = await foundJoins(`
customer_demographics 700
  row_key serial !
  gender oneof=M|F
coupon 700
  row_key serial !
  label words
visit 2000
  visit_key sparse=1+4 !
  current_cdemo_key >customer_demographics.row_key
`);
  expect(accepted).toContain('visit.current_cdemo_key -> customer_demographics.row_key');
});

const accounts = `
account 300
  id serial !
  opened date
savings_account 120
  account_id =account.id+40 !
  rate num=5
loan_account 100
  account_id =account.id+180 !
  principal num=900
`;

test('a table that is named after what it is extends it', async () => {
  const { accepted } = await foundJoins(accounts);
  expect(accepted).toEqual([
    'loan_account.account_id -> account.id',
    'savings_account.account_id -> account.id',
  ]);
});

test('a few rows tell the subtype that is meant, where its key is called like that of the root', async () => {
  const { accepted } = await foundJoins(`
party 900
  party_id serial !
  note words
employee 40
  party_id =party.party_id+300 !
  job words
candidate 30
  candidate_id serial !
  party_id >employee.party_id null=.9
  text words
`);
  expect(accepted).toContain('candidate.party_id -> employee.party_id');
});

test('the short key of one table is found in others', async () => {
  const { accepted } = await foundJoins(`
node 600
  nid serial !
  title words
article 190
  nid =node.nid*3 !
  teaser words
users 250
  uid serial !
  login words
remark 800
  rid serial !
  nid >node.nid
  uid >users.uid
`);
  expect(accepted).toEqual([
    'article.nid -> node.nid',
    'remark.nid -> node.nid',
    'remark.uid -> users.uid',
  ]);
});

const lakes = `
lake 90
  ident serial !
  name letters=8
  depth int=1..90
`;

test('a name is a key where a column is called like its table', async () => {
  const { accepted } = await foundJoins(`${lakes}
island 200
  ident serial=500 !
  lake >lake.name null=.3
`);
  expect(accepted).toEqual(['island.lake -> lake.name']);
});

test('a name that is copied beside a key is no second reference', async () => {
  const { accepted } = await foundJoins(`${lakes}
island 200
  ident serial=500 !
  (lake_ident,lake) >lake(ident,name)
`);
  expect(accepted).toEqual(['island.lake_ident -> lake.ident']);
});

test('parts of a table refer to what it refers to, and others refer to the whole', async () => {
  const { accepted } = await foundJoins(`
device 120
  device_id serial !
  label words
event 1500
  event_id serial !
  device_id >device.device_id
part event_2023 event_id<501 of event
part event_2024 event_id>500 of event
crash 200
  crash_id serial !
  event_id =event.event_id+600
`);
  expect(accepted).toEqual([
    'crash.event_id -> event.event_id',
    'event.device_id -> device.device_id',
    'event_2023.device_id -> device.device_id',
    'event_2024.device_id -> device.device_id',
  ]);
});

test('a small number is no reference to its own table unless its name is a role', async () => {
  const { accepted } = await foundJoins(`
clerk 20
  clerk_id sparse=1+3 !
  full_name words
  desk >clerk.clerk_id
  boss >clerk.clerk_id null=.2
`);
  expect(accepted).toEqual(['clerk.boss -> clerk.clerk_id']);
});

test('a role needs no more than a few rows', async () => {
  const { accepted } = await foundJoins(`
staff 9
  staff_id serial=100 !
  full_name words
  reports_to >staff.staff_id null=.2 share=.2
`);
  expect(accepted).toEqual(['staff.reports_to -> staff.staff_id']);
});

test('a table of persons is known by its columns', async () => {
  const { accepted } = await foundJoins(`
xqf 60
  id serial !
  first_name words
  last_name words
depot 60
  id serial !
  label words
parcel 900
  id sparse=1+4 !
  checked_by >xqf.id
`);
  expect(accepted).toEqual(['parcel.checked_by -> xqf.id']);
});

test('the first columns of a table are its key where no fewer are', async () => {
  const { accepted } = await foundJoins(`
course 60
  course_id code=C !
  title words
section 500 key=course_id,sec_id,term_no,year
  course_id >course.course_id
  sec_id int=1..3
  term_no int=1..3
  year int=2001..2006
  seats int=5..20
takes 2000
  student sparse=20000+9
  (course_id,sec_id,term_no,year) >section(course_id,sec_id,term_no,year)
`);
  expect(accepted).toContain(
    'takes.course_id,sec_id,term_no,year -> section.course_id,sec_id,term_no,year',
  );
});

test('two histories of one thing have steps on the same days, and do not refer to each other', async () => {
  const { accepted, review } = await foundJoins(
    `
person 300
  person_no serial=1000 !
  full_name words
pay 900 key=person_no,from_date
  person_no >person.person_no
  from_date date
  wage int=3000..9000
post 800 key=person_no,from_date
  (person_no,from_date) >pay(person_no,from_date)
  title oneof=Engineer|Clerk
`,
    'keys',
  );
  expect(accepted).not.toContain('post.person_no,from_date -> pay.person_no,from_date');
  expect(review).toContain('post.person_no,from_date -> pay.person_no,from_date');
});

test('a number among the keys of a table is no reference unless its name says so', async () => {
  const { accepted } = await foundJoins(`
star 90
  id serial !
  label words
player 1500
  player_no serial=30000 !
  stamina int=10..90
  crossing int=1..90
  star >star.id
`);
  expect(accepted).toEqual(['player.star -> star.id']);
});

test('what nearly all columns of a name refer to, the one of few values does too', async () => {
  const table = (name: string, rows: number, values: string) => `
${name} ${rows}
  id sparse=2+7 !
  seller_code ${values}
`;
  const { accepted } = await foundJoins(`
people 300
  id serial !
  label words
shelf 340
  id serial !
  colour words
genre 6
  id serial !
  colour words
${table('booking', 2000, '>people.id')}
${table('invoice', 1500, '>people.id')}
${table('ticket', 1800, '>people.id')}
${table('remark', 30, 'int=1..6')}
`);
  expect(accepted).toEqual(
    ['booking', 'invoice', 'remark', 'ticket'].map((name) => `${name}.seller_code -> people.id`),
  );
});

test('a table with a column of the same name is not what that name means', async () => {
  const { accepted, review } = await foundJoins(`
orders 400
  id serial !
  shop_no int=1..300
visits 2000
  id sparse=2+5 !
  shop_no int=1..400
`);
  expect({ accepted, review }).toEqual({
    accepted: [],
    review: ['visits.shop_no -> orders.id'],
  });
});
