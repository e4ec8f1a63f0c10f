import { rowsOf } from '../blind/answer.ts';
import { near, story } from '../ninth/kit.ts';
import { growth, type Telling, told } from '../second/kit.ts';
import { amounts } from '../seventh/kit.ts';
import { speech, withSql } from '../third/kit.ts';

const ja = speech('ja-JP', '');
const zh = speech('zh-CN', '');
const ko = speech('ko-KR', '');
const ru = speech('ru-RU', ' ');
const uk = speech('uk-UA', '');
const tr = speech('tr-TR', '');
const cs = speech('cs-CZ', ' ');
const hu = speech('hu-HU', '');
const ro = speech('ro-RO', '');
const el = speech('el-GR', '');
const da = speech('da-DK', ' ');
const fi = speech('fi-FI', ' ');
const nb = speech('nb-NO', ' ');
const latin = speech('en-US', '');
const id = speech('id-ID', '');
const vi = speech('vi-VN', '');

/** Answers in other languages of Europe, and in those of Asia. */
export const world: readonly Telling[] = [
  told('10-ja-kaiin', '会員数はどのように推移していますか?', (dice) => {
    const rows = story(dice, ['2025-01', 12_400], ['2025-02', 12_950], ['2025-03', 14_310]);
    const [a, b, c] = amounts(rows);
    return [
      [rowsOf('q1', '月 会員数', ...rows)],
      `会員数は増加傾向にあります [q1]。

      - 1月:${ja.n(a)}人
      - 2月:${ja.n(b)}人(前月比${ja.sp(growth(a, b))})
      - 3月:${ja.n(c)}人(前月比${ja.sp(growth(b, c))})

      1月から3月までの2か月間で${ja.n(c - a)}人増え、増加率は${ja.p(growth(a, c))}でした。特に3月の伸びが大きくなっています。`,
    ];
  }),
  told('10-ja-hendou', '返品理由の内訳を教えて', (dice) => {
    const rows = story(dice, ['サイズ違い', 842], ['不良品', 315], ['イメージ違い', 528]);
    const [a, b, c] = amounts(rows);
    const all = a + b + c;
    return [
      [rowsOf('q1', '理由 件数', ...rows)],
      `返品は合計${ja.n(all)}件です。最も多い理由は「サイズ違い」で${ja.n(a)}件(全体の${ja.p(a / all)})、次いで「イメージ違い」が${ja.n(c)}件(${ja.p(c / all)})、
      「不良品」が${ja.n(b)}件(${ja.p(b / all)})となっています [q1]。上位2つの理由で全体の約${ja.p((a + c) / all, 0)}を占めます。`,
    ];
  }),
  told('10-zh-quyu', '各区域的销售额和完成率如何?', (dice) => {
    const rows = story(
      dice,
      ['华东', 32_400_000, 30_000_000],
      ['华南', 21_800_000, 25_000_000],
      ['华北', 19_900_000, 18_500_000],
    );
    const [a, b, c] = amounts(rows);
    const [x, y, z] = amounts(rows, 2);
    return [
      [rowsOf('q1', '区域 销售额 目标', ...rows)],
      `三个区域中有两个完成了目标 [q1]:

      | 区域 | 销售额(万元) | 目标(万元) | 完成率 |
      |---|---:|---:|---:|
      | 华东 | ${zh.n(a / 1e4)} | ${zh.n(x / 1e4)} | ${zh.p(a / x)} |
      | 华南 | ${zh.n(b / 1e4)} | ${zh.n(y / 1e4)} | ${zh.p(b / y)} |
      | 华北 | ${zh.n(c / 1e4)} | ${zh.n(z / 1e4)} | ${zh.p(c / z)} |

      华南距离目标还差${zh.s(y - b, [1e4, '万元'], 0)}。整体来看,销售额合计${zh.s(a + b + c, [1e8, '亿元'], 2)},总完成率为${zh.p((a + b + c) / (x + y + z))}。`,
    ];
  }),
  told('10-zh-tw', '客服平均回覆時間是多少?', (dice) => {
    const rows = story(dice, ['電話', 1_830, 4], ['電子郵件', 2_410, 312], ['線上客服', 5_260, 9]);
    const [a, b, c] = amounts(rows);
    const [x, y, z] = amounts(rows, 2);
    return [
      [rowsOf('q1', '管道 件數 平均回覆分鐘', ...rows)],
      `電話最快,平均${zh.n(x)}分鐘回覆;線上客服平均${zh.n(z)}分鐘;電子郵件最慢,平均${zh.n(y)}分鐘,約${zh.n(y / 60, 1)}小時 [q1]。

      以件數來看,線上客服有${zh.n(c)}件,佔全部${zh.n(a + b + c)}件的${zh.p(c / (a + b + c))},是最主要的管道。`,
    ];
  }),
  told('10-ko-churn', '이탈 고객은 얼마나 되나요?', (dice) => {
    const [all, gone] = [near(dice, 15_820), near(dice, 1_248)];
    return [
      [rowsOf('q1', '전체_고객 이탈_고객', [all, gone])],
      `전체 고객 ${ko.n(all)}명 중 **${ko.n(gone)}명**이 이탈하여 이탈률은 ${ko.p(gone / all)}입니다 [q1]. 즉, 유지된 고객은 ${ko.n(all - gone)}명
      (${ko.p(1 - gone / all)})입니다.`,
    ];
  }),
  told('10-ru-sotrudniki', 'Сколько сотрудников работает в каждом филиале?', (dice) => {
    const rows = story(dice, ['Казань', 214], ['Пермь', 148], ['Тула', 63]);
    const [a, b, c] = amounts(rows);
    const all = a + b + c;
    return [
      [rowsOf('q1', 'филиал сотрудники', ...rows)],
      `Всего в трёх филиалах работает ${ru.n(all)} человек [q1]. Больше всего — в Казани (${ru.n(a)}, или ${ru.p(a / all, 0)}), затем идут Пермь
      (${ru.n(b)}) и Тула (${ru.n(c)}). Казанский филиал больше тульского примерно в ${ru.n(a / c, 1)} раза. В среднем на филиал приходится
      ${ru.n(all / 3)} сотрудников.`,
    ];
  }),
  told('10-uk-zamovlennia', 'Як змінилася кількість замовлень у травні?', (dice) => {
    const rows = story(dice, ['2025-04', 7_410], ['2025-05', 8_265]);
    const [a, b] = amounts(rows);
    return [
      [rowsOf('q1', 'місяць замовлення', ...rows)],
      `У травні 2025 року було ${uk.n(b)} замовлень проти ${uk.n(a)} у квітні, тобто на ${uk.n(b - a)} більше (${uk.sp(growth(a, b))}) [q1].
      У середньому за день — близько ${uk.n(b / 31)} замовлень.`,
    ];
  }),
  told('10-tr-subeler', 'Şubelere göre ciro nedir?', (dice) => {
    const rows = story(dice, ['Ankara', 3_120_000], ['İzmir', 2_470_000], ['Bursa', 1_090_000]);
    const [a, b, c] = amounts(rows);
    const all = a + b + c;
    return [
      [rowsOf('q1', 'sube ciro', ...rows)],
      `Toplam ciro ${tr.s(all, [1e6, ' milyon'], 2)} TL [q1]:

      - Ankara: ${tr.n(a)} TL (%${tr.n((a / all) * 100, 1)})
      - İzmir: ${tr.n(b)} TL (%${tr.n((b / all) * 100, 1)})
      - Bursa: ${tr.n(c)} TL (%${tr.n((c / all) * 100, 1)})

      Ankara, Bursa'nın yaklaşık ${tr.n(a / c, 1)} katı ciro yapıyor.`,
    ];
  }),
  told('10-cs-prodej', 'Kolik jsme prodali v jednotlivých krajích?', (dice) => {
    const rows = story(dice, ['Praha', 4_310, 1_920_000], ['Zlínský', 1_870, 655_000]);
    const [a, b] = amounts(rows);
    const [x, y] = amounts(rows, 2);
    return [
      [rowsOf('q1', 'kraj kusy trzby', ...rows)],
      `V kraji Praha jsme prodali ${cs.n(a)} kusů za ${cs.n(x)} Kč, ve Zlínském kraji ${cs.n(b)} kusů za ${cs.n(y)} Kč [q1]. Dohromady to je
      ${cs.n(a + b)} kusů a ${cs.s(x + y, [1e6, ' mil.'], 2)} Kč. Průměrná cena za kus činila ${cs.n(x / a, 2)} Kč v Praze a ${cs.n(y / b, 2)} Kč
      ve Zlínském kraji.`,
    ];
  }),
  told('10-hu-bevetel', 'Mennyi volt a bevétel negyedévente 2024-ben?', (dice) => {
    const rows = story(dice, ['2024-Q1', 88_400_000], ['2024-Q2', 93_100_000]);
    const [a, b] = amounts(rows);
    return [
      [rowsOf('q1', 'negyedev bevetel', ...rows)],
      `2024 első negyedévében a bevétel ${hu.s(a, [1e6, ' millió'], 1)} Ft volt, a második negyedévben ${hu.s(b, [1e6, ' millió'], 1)} Ft [q1]. Ez
      ${hu.n(b - a)} Ft növekedés, azaz ${hu.p(growth(a, b))}.`,
    ];
  }),
  told('10-ro-livrari', 'Câte livrări au întârziat?', (dice) => {
    const rows = story(dice, ['Cluj', 2_940, 188], ['Iași', 1_760, 203]);
    const [a, b] = amounts(rows);
    const [x, y] = amounts(rows, 2);
    return [
      [rowsOf('q1', 'oras livrari intarziate', ...rows)],
      `În total au întârziat ${ro.n(x + y)} din ${ro.n(a + b)} livrări (${ro.p((x + y) / (a + b))}) [q1]. La Iași situația e mai proastă:
      ${ro.n(y)} din ${ro.n(b)}, adică ${ro.p(y / b)}, față de ${ro.p(x / a)} la Cluj (${ro.n(x)} din ${ro.n(a)}).`,
    ];
  }),
  told('10-el-kratiseis', 'Πόσες κρατήσεις είχαμε ανά νησί;', (dice) => {
    const rows = story(dice, ['Κρήτη', 9_840], ['Ρόδος', 7_310], ['Πάρος', 2_460]);
    const [a, b, c] = amounts(rows);
    const all = a + b + c;
    return [
      [rowsOf('q1', 'νησί κρατήσεις', ...rows)],
      `Συνολικά είχαμε ${el.n(all)} κρατήσεις [q1]: Κρήτη ${el.n(a)} (${el.p(a / all)}), Ρόδος ${el.n(b)} (${el.p(b / all)}) και Πάρος
      ${el.n(c)} (${el.p(c / all)}). Η Κρήτη ξεπερνά τη Ρόδο κατά ${el.n(a - b)} κρατήσεις.`,
    ];
  }),
  told('10-da-medlemmer', 'Hvor mange medlemmer har vi pr. region?', (dice) => {
    const rows = story(dice, ['Jylland', 18_240], ['Fyn', 5_310], ['Sjælland', 22_750]);
    const [a, b, c] = amounts(rows);
    const all = a + b + c;
    return [
      [rowsOf('q1', 'region medlemmer', ...rows)],
      `Vi har i alt ${da.n(all)} medlemmer [q1]. Sjælland er størst med ${da.n(c)} (${da.p(c / all)}), derefter Jylland med ${da.n(a)}
      (${da.p(a / all)}) og Fyn med ${da.n(b)} (${da.p(b / all)}). Forskellen mellem Sjælland og Jylland er ${da.n(c - a)} medlemmer.`,
    ];
  }),
  told('10-fi-myynti', 'Miten myynti kehittyi huhtikuusta toukokuuhun?', (dice) => {
    const rows = story(dice, ['2025-04-01', 412_300], ['2025-05-01', 447_900]);
    const [a, b] = amounts(rows);
    return [
      [rowsOf('q1', 'kuukausi myynti', ...rows)],
      `Myynti kasvoi huhtikuun ${fi.n(a)} eurosta toukokuun ${fi.n(b)} euroon, eli ${fi.n(b - a)} euroa (${fi.p(growth(a, b))}) [q1].`,
    ];
  }),
  told('10-nb-butikker', 'Hvilken butikk selger mest per ansatt?', (dice) => {
    const rows = story(dice, ['Bergen', 14, 9_310_000], ['Tromsø', 8, 5_940_000]);
    const [a, b] = amounts(rows);
    const [x, y] = amounts(rows, 2);
    return [
      [rowsOf('q1', 'butikk ansatte omsetning', ...rows)],
      `Tromsø selger mest per ansatt: ${nb.n(y / b)} kr (${nb.s(y, [1e6, ' mill.'], 2)} kr fordelt på ${nb.n(b)} ansatte). I Bergen er
      tallet ${nb.n(x / a)} kr (${nb.s(x, [1e6, ' mill.'], 2)} kr, ${nb.n(a)} ansatte) [q1]. Bergen har likevel høyest omsetning totalt.`,
    ];
  }),
  told('10-ar-mabiat', 'ما هي المبيعات حسب الفرع؟', (dice) => {
    const rows = story(dice, ['الرياض', 1_840_000], ['جدة', 1_310_000], ['الدمام', 720_000]);
    const [a, b, c] = amounts(rows);
    const all = a + b + c;
    return [
      [rowsOf('q1', 'الفرع المبيعات', ...rows)],
      `بلغ إجمالي المبيعات ${latin.n(all)} ريال [q1]:

      - الرياض: ${latin.n(a)} ريال (${latin.p(a / all)})
      - جدة: ${latin.n(b)} ريال (${latin.p(b / all)})
      - الدمام: ${latin.n(c)} ريال (${latin.p(c / all)})

      تتفوق الرياض على جدة بمبلغ ${latin.n(a - b)} ريال.`,
    ];
  }),
  told('10-he-hazmanot', 'כמה הזמנות היו בכל ערוץ?', (dice) => {
    const rows = story(dice, ['אתר', 4_120], ['אפליקציה', 6_380]);
    const [a, b] = amounts(rows);
    return [
      [rowsOf('q1', 'ערוץ הזמנות', ...rows)],
      `היו ${latin.n(a + b)} הזמנות בסך הכול: ${latin.n(b)} באפליקציה (${latin.p(b / (a + b))}) ו-${latin.n(a)} באתר (${latin.p(a / (a + b))}) [q1].`,
    ];
  }),
  told('10-id-penjualan', 'Berapa penjualan per kota pada Mei 2025?', (dice) => {
    const rows = story(dice, ['Surabaya', 812_000_000], ['Bandung', 534_000_000]);
    const [a, b] = amounts(rows);
    return [
      [rowsOf('q1', 'kota penjualan', ...rows)],
      `Pada Mei 2025, penjualan di Surabaya mencapai Rp${id.n(a)} dan di Bandung Rp${id.n(b)} [q1]. Totalnya Rp${id.s(a + b, [1e9, ' miliar'], 2)};
      Surabaya menyumbang ${id.p(a / (a + b))}. Selisih keduanya Rp${id.s(a - b, [1e6, ' juta'], 1)}.`,
    ];
  }),
  told('10-vi-donhang', 'Tỷ lệ hủy đơn theo kênh là bao nhiêu?', (dice) => {
    const rows = story(dice, ['website', 9_140, 412], ['cửa hàng', 5_230, 88]);
    const [a, b] = amounts(rows);
    const [x, y] = amounts(rows, 2);
    return [
      [rowsOf('q1', 'kenh don_hang don_huy', ...rows)],
      `Kênh website có tỷ lệ hủy ${vi.p(x / a)} (${vi.n(x)} trên ${vi.n(a)} đơn), cao hơn cửa hàng với ${vi.p(y / b)} (${vi.n(y)} trên ${vi.n(b)} đơn) [q1].
      Tổng cộng có ${vi.n(x + y)} đơn bị hủy.`,
    ];
  }),
  told('10-hi-rajya', 'राज्यवार बिक्री बताइए', (dice) => {
    const inr = speech('en-IN', '');
    const rows = story(dice, ['पंजाब', 24_300_000], ['बिहार', 18_700_000]);
    const [a, b] = amounts(rows);
    return [
      [rowsOf('q1', 'राज्य बिक्री', ...rows)],
      `कुल बिक्री ₹${inr.n(a + b)} रही [q1]। पंजाब की बिक्री ₹${inr.n(a)} (${inr.p(a / (a + b))}) और बिहार की ₹${inr.n(b)} (${inr.p(b / (a + b))}) है।
      पंजाब की बिक्री बिहार से ₹${inr.s(a - b, [1e5, ' लाख'], 1)} अधिक है।`,
    ];
  }),
  told('10-th-yot', 'ยอดขายแต่ละสาขาเป็นเท่าไร', (dice) => {
    const rows = story(dice, ['เชียงใหม่', 1_240_000], ['ภูเก็ต', 1_980_000]);
    const [a, b] = amounts(rows);
    return [
      [
        withSql(
          'SELECT branch, sum(amount) AS sales FROM sales GROUP BY branch',
          rowsOf('q1', 'branch sales', ...rows),
        ),
      ],
      `ยอดขายรวม ${latin.n(a + b)} บาท [q1] โดยสาขาภูเก็ตขายได้ ${latin.n(b)} บาท (${latin.p(b / (a + b))}) และสาขาเชียงใหม่ ${latin.n(a)} บาท
      (${latin.p(a / (a + b))})`,
    ];
  }),
];
