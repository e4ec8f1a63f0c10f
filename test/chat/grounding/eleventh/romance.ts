import { near, story } from '../ninth/kit.ts';
import { growth, type Telling, told } from '../second/kit.ts';
import { amounts } from '../seventh/kit.ts';
import { speech } from '../third/kit.ts';
import { gave, nth } from './kit.ts';

const fr = speech('fr-FR', ' ');
const es = speech('es-ES', ' ');
const pt = speech('pt-BR', '');
const it = speech('it-IT', '');

/** Answers in French, Spanish, Portuguese and Italian. */
export const romance: readonly Telling[] = [
  told('11-fr-ca', "Quel est le chiffre d'affaires par région au T3 2025 ?", (dice) => {
    const rows = story(
      dice,
      ['Île-de-France', 2_410_300],
      ['Auvergne-Rhône-Alpes', 1_180_700],
      ['Occitanie', 742_900],
    );
    const [a, b, c] = amounts(rows);
    const all = a + b + c;
    return [
      [
        gave(
          "SELECT region, SUM(montant) AS ca FROM ventes WHERE date_vente >= '2025-07-01' AND date_vente < '2025-10-01' GROUP BY region ORDER BY ca DESC",
          'region ca',
          ...rows,
        ),
      ],
      `Le chiffre d'affaires du T3 2025 s'élève à **${fr.n(all)} €** [q1].

      | Région | CA | Part |
      |---|---:|---:|
      | Île-de-France | ${fr.n(a)} € | ${fr.p(a / all)} |
      | Auvergne-Rhône-Alpes | ${fr.n(b)} € | ${fr.p(b / all)} |
      | Occitanie | ${fr.n(c)} € | ${fr.p(c / all)} |

      L'Île-de-France représente plus de la moitié du total et réalise environ deux fois le chiffre de la région {m:Auvergne-Rhône-Alpes~Occitanie}. Souhaitez-vous le détail par mois ou la comparaison avec le T3 2024 ?`,
    ];
  }),
  told('11-fr-panier', 'Évolution du panier moyen', (dice) => {
    const rows = story(dice, ['2025-07', 6_412], ['2025-08', 6_105], ['2025-09', 6_890]).map(
      ([month, cents = 0]) => [month, cents / 100] as const,
    );
    const [a, b, c] = amounts(rows);
    return [
      [
        gave(
          "SELECT strftime('%Y-%m', date_commande) AS mois, AVG(montant) AS panier_moyen FROM commandes WHERE date_commande >= '2025-07-01' GROUP BY 1 ORDER BY 1",
          'mois panier_moyen',
          ...rows,
        ),
      ],
      `Le panier moyen est passé de ${fr.n(a, 2)} € en juillet à **${fr.n(c, 2)} €** en septembre 2025, soit une {d:hausse~baisse} de ${fr.p(growth(a, c))} [q1].

      - Juillet : ${fr.n(a, 2)} €
      - Août : ${fr.n(b, 2)} € (${fr.sp(growth(a, b))})
      - Septembre : ${fr.n(c, 2)} € (${fr.sp(growth(b, c))})

      Le creux d'août est classique (vacances d'été). Les commandes annulées ont été exclues ; les montants sont TTC.`,
    ];
  }),
  told('11-fr-clients', 'Combien de clients ont commandé plus de 3 fois ?', (dice) => {
    const [all, loyal] = [near(dice, 15_230), near(dice, 2_140)];
    return [
      [
        gave('SELECT COUNT(*) AS clients FROM clients_actifs', 'clients', [all]),
        nth(
          2,
          gave(
            'SELECT COUNT(*) AS clients_fideles FROM (SELECT client_id FROM commandes GROUP BY client_id HAVING COUNT(*) > 3) AS t',
            'clients_fideles',
            [loyal],
          ),
        ),
      ],
      `**${fr.n(loyal)} clients** ont passé plus de 3 commandes [q2], sur un total de ${fr.n(all)} clients [q1], soit ${fr.p(loyal / all)} (environ 1 client sur 7).

      Les ${fr.n(all - loyal)} autres clients ont commandé entre 1 et 3 fois. Je peux aussi vous donner la répartition par tranche (1, 2–3, 4–10, plus de 10 commandes).`,
    ];
  }),
  told('11-fr-vide', 'Quelles ventes en Corse en janvier ?', () => [
    [
      gave(
        "SELECT * FROM ventes WHERE region = 'Corse' AND date_vente BETWEEN '2025-01-01' AND '2025-01-31'",
        'id montant',
      ),
    ],
    `Je n'ai trouvé **aucune vente** en Corse entre le 1er et le 31 janvier 2025 [q1].

    Deux explications possibles :

    1. il n'y a réellement pas eu de ventes ;
    2. la région est enregistrée sous un autre nom (par exemple « 2A » et « 2B »).

    Voulez-vous que je vérifie les 13 régions présentes dans la table ?`,
  ]),
  told('11-es-ventas', '¿Cuáles fueron las ventas mensuales del último trimestre?', (dice) => {
    const rows = story(
      dice,
      ['2025-07-01', 412_300],
      ['2025-08-01', 358_900],
      ['2025-09-01', 471_600],
    );
    const [a, b, c] = amounts(rows);
    const all = a + b + c;
    return [
      [
        gave(
          "SELECT date_trunc('month', fecha) AS mes, SUM(importe) AS ventas FROM ventas WHERE fecha >= '2025-07-01' AND fecha < '2025-10-01' GROUP BY 1 ORDER BY 1",
          'mes ventas',
          ...rows,
        ),
      ],
      `En el tercer trimestre de 2025 se vendieron **${es.n(all)} €** [q1]:

      | Mes | Ventas | Variación |
      |---|---:|---:|
      | Julio | ${es.n(a)} € | – |
      | Agosto | ${es.n(b)} € | ${es.sp(growth(a, b))} |
      | Septiembre | ${es.n(c)} € | ${es.sp(growth(b, c))} |

      La media mensual es de ${es.n(all / 3)} €. {p:Septiembre~Agosto} fue el mejor mes, con el ${es.p(c / all)} del trimestre. ¿Quieres que lo compare con el mismo trimestre de 2024?`,
    ];
  }),
  told('11-es-conversion', '¿Qué campaña convierte mejor?', (dice) => {
    const rows = story(
      dice,
      ['Newsletter', 12_410, 621],
      ['Instagram', 28_900, 549],
      ['Google Ads', 19_300, 714],
    );
    const [a, b, c] = amounts(rows);
    const [x, y, z] = amounts(rows, 2);
    return [
      [
        gave(
          'SELECT campana, SUM(clics) AS clics, SUM(conversiones) AS conversiones FROM campanas GROUP BY campana',
          'campana clics conversiones',
          ...rows,
        ),
      ],
      `La campaña que mejor convierte es **{m:Newsletter~Instagram}**, con una tasa del ${es.p(x / a)} [q1]:

      - Newsletter: ${es.n(x)} conversiones de ${es.n(a)} clics (${es.p(x / a)})
      - Google Ads: ${es.n(z)} de ${es.n(c)} (${es.p(z / c)})
      - Instagram: ${es.n(y)} de ${es.n(b)} (${es.p(y / b)})

      En volumen gana Google Ads, con casi el 40 % de las ${es.n(x + y + z)} conversiones. Instagram trae muchos clics (${es.p(b / (a + b + c), 0)}), pero convierte poco.`,
    ];
  }),
  told('11-es-inventario', '¿Cuántos días de inventario nos quedan?', (dice) => {
    const rows = story(dice, ['Camiseta básica', 4_210, 138], ['Pantalón chino', 1_870, 42]);
    const [a, b] = amounts(rows);
    const [x, y] = amounts(rows, 2);
    return [
      [
        gave(
          "SELECT producto, existencias, ventas_diarias FROM inventario WHERE categoria = 'Básicos'",
          'producto existencias ventas_diarias',
          ...rows,
        ),
      ],
      `Al ritmo de venta de los últimos 30 días [q1]:

      - **Camiseta básica**: ${es.n(a)} unidades ÷ ${es.n(x)} al día ≈ ${es.n(a / x)} días
      - **Pantalón chino**: ${es.n(b)} unidades ÷ ${es.n(y)} al día ≈ ${es.n(b / y)} días

      La camiseta se agotará antes. Con un plazo de reposición de 14 días, convendría hacer el pedido dentro de unos ${es.n(a / x - 14)} días.`,
    ];
  }),
  told('11-pt-receita', 'Qual foi a receita por estado?', (dice) => {
    const rows = story(dice, ['SP', 3_120_400], ['RJ', 1_410_900], ['MG', 988_300]);
    const [a, b, c] = amounts(rows);
    const all = a + b + c;
    return [
      [
        gave(
          "SELECT estado, SUM(valor) AS receita FROM pedidos WHERE data_pedido BETWEEN '2025-01-01' AND '2025-06-30' AND status = 'pago' GROUP BY estado ORDER BY receita DESC",
          'estado receita',
          ...rows,
        ),
      ],
      `No primeiro semestre de 2025, a receita total foi de **R$ ${pt.n(all)}** [q1], cerca de R$ ${pt.s(all, [1e6, ' milhões'], 1)}.

      | Estado | Receita | % do total |
      |---|---|---|
      | SP | R$ ${pt.n(a)} | ${pt.p(a / all)} |
      | RJ | R$ ${pt.n(b)} | ${pt.p(b / all)} |
      | MG | R$ ${pt.n(c)} | ${pt.p(c / all)} |

      São Paulo sozinho responde por mais da metade. O RJ fatura ${pt.p(growth(c, b), 0)} a mais que MG. Considerei apenas pedidos pagos; se quiser, incluo os pendentes.`,
    ];
  }),
  told('11-pt-crescimento', 'Como a base de assinantes cresceu?', (dice) => {
    const rows = story(dice, ['2023', 4_120], ['2024', 6_310], ['2025', 9_870]);
    const [a, b, c] = amounts(rows);
    return [
      [
        gave(
          'SELECT ano, assinantes FROM assinantes_por_ano ORDER BY ano',
          'ano assinantes',
          ...rows,
        ),
      ],
      `A base mais que dobrou em dois anos: de ${pt.n(a)} assinantes em 2023 para **${pt.n(c)}** em 2025 [q1], um aumento de ${pt.p(growth(a, c))}.

      - 2023 → 2024: ${pt.sn(b - a)} (${pt.sp(growth(a, b))})
      - 2024 → 2025: ${pt.sn(c - b)} (${pt.sp(growth(b, c))})

      Isso equivale a um crescimento médio (CAGR) de ${pt.p(Math.sqrt(c / a) - 1)} ao ano.`,
    ];
  }),
  told('11-it-fatturato', 'Qual è il fatturato per canale?', (dice) => {
    const rows = story(dice, ['negozio', 1_830_200], ['online', 1_241_500], ['ingrosso', 412_800]);
    const [a, b, c] = amounts(rows);
    const all = a + b + c;
    return [
      [
        gave(
          'SELECT canale, SUM(importo) AS fatturato FROM vendite WHERE anno = 2025 GROUP BY canale',
          'canale fatturato',
          ...rows,
        ),
      ],
      `Nel 2025 il fatturato complessivo è di **${it.n(all)} €** [q1]:

      - **Negozio**: ${it.n(a)} € (${it.p(a / all)})
      - **Online**: ${it.n(b)} € (${it.p(b / all)})
      - **Ingrosso**: ${it.n(c)} € (${it.p(c / all)})

      Il negozio supera l'online di ${it.n(a - b)} €, ma l'online vale già poco più di un terzo del totale. I dati sono aggiornati al 30/09/2025.`,
    ];
  }),
  told('11-it-ritardi', 'Quanti ordini sono in ritardo?', (dice) => {
    const [all, late, days] = [near(dice, 2_480), near(dice, 173), near(dice, 46) / 10];
    return [
      [
        gave(
          "SELECT COUNT(*) AS ordini_aperti, SUM(CASE WHEN consegna_prevista < CURRENT_DATE THEN 1 ELSE 0 END) AS in_ritardo, AVG(giorni_ritardo) AS ritardo_medio FROM ordini WHERE stato = 'aperto'",
          'ordini_aperti in_ritardo ritardo_medio',
          [all, late, days],
        ),
      ],
      `Al momento ci sono **${it.n(late)} ordini in ritardo** su ${it.n(all)} ordini aperti (${it.p(late / all)}) [q1]. Il ritardo medio è di ${it.n(days, 1)} giorni.

      I restanti ${it.n(all - late)} ordini sono nei tempi. Se vuoi, posso elencare i 20 ordini con il ritardo maggiore.`,
    ];
  }),
];
