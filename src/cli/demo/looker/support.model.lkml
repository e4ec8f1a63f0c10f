connection: "warehouse"
include: "/*.view.lkml"

explore: tickets {
  label: "Support"
  join: customers {
    relationship: many_to_one
    sql_on: ${tickets.cust_id} = ${customers.id} ;;
  }
}
