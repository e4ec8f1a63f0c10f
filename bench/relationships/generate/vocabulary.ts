/** Names of entities, by language and kind. */
export const entityNames = {
  en: {
    people:
      'customer,employee,user,supplier,student,teacher,patient,doctor,driver,author,member,agent,player,vendor,contact,person,guest,nurse,client,worker'.split(
        ',',
      ),
    thing:
      'product,account,store,warehouse,vehicle,book,movie,song,course,department,branch,room,property,device,project,campaign,team,ship,machine,ticket type,bank account,credit card,price list,work center,school,hospital,company,station,farm,article,recipe,building,asset,contract,policy,sensor,flight,journal'.split(
        ',',
      ),
    event:
      'order,invoice,payment,shipment,visit,booking,review,message,comment,enrollment,claim,delivery,inspection,session,transaction,match,race,appointment,loan,return,complaint,order line,purchase,ticket,audit log,status change,inventory move,stay,trip,grade,reading,result'.split(
        ',',
      ),
    lookup:
      'country,city,region,category,status,currency,language,genre,brand,color,unit,season,segment,tax rate,payment method,order status,job title,skill,tag,state,sector,county,severity,channel,tier'.split(
        ',',
      ),
  },
  de: {
    people: 'kunde,mitarbeiter,lieferant,patient,fahrer,benutzer,schueler,arzt'.split(','),
    thing:
      'artikel,lager,filiale,abteilung,fahrzeug,projekt,konto,buch,raum,maschine,vertrag'.split(
        ',',
      ),
    event:
      'auftrag,rechnung,lieferung,buchung,zahlung,bestellung,termin,auftrag position,reklamation'.split(
        ',',
      ),
    lookup: 'land,ort,region,warengruppe,waehrung,sprache,farbe,einheit,status,marke'.split(','),
  },
  es: {
    people: 'cliente,empleado,proveedor,usuario,alumno,medico,conductor'.split(','),
    thing: 'producto,almacen,tienda,departamento,vehiculo,proyecto,cuenta,libro,curso'.split(','),
    event: 'pedido,factura,pago,envio,reserva,visita,venta,compra'.split(','),
    lookup: 'pais,ciudad,provincia,categoria,moneda,idioma,color,marca,estado'.split(','),
  },
};
export const staffWords = new Set(
  'employee,user,member,agent,worker,person,mitarbeiter,benutzer,empleado,usuario'.split(','),
);
export const roleWords = [
  'primary',
  'secondary',
  'billing',
  'shipping',
  'origin',
  'destination',
  'home',
  'away',
  'from',
  'to',
  'source',
  'target',
  'first',
  'second',
  'old',
  'new',
  'main',
  'default',
  'alternate',
  'buyer',
  'seller',
  'sender',
  'recipient',
  'winner',
  'loser',
  'current',
];
export const bareRoles = [
  'origin',
  'destination',
  'source',
  'target',
  'home',
  'away',
  'departure',
  'arrival',
  'from',
  'to',
  'winner',
  'loser',
];
export const personRoles = [
  'created_by',
  'owner',
  'author',
  'assignee',
  'approved_by',
  'sales_rep',
  'buyer',
  'seller',
  'reviewer',
  'sender',
  'recipient',
  'updated_by',
  'contact',
  'handler',
  'instructor',
  'uploader',
  'payer',
  'closed_by',
  'voter',
  'inviter',
];
export const selfRoles = [
  'parent',
  'manager',
  'supervisor',
  'reports_to',
  'previous',
  'replaced_by',
  'original',
  'boss',
  'superior',
  'mentor',
  'referred_by',
  'reply_to',
];
