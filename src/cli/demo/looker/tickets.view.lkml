view: tickets {
  sql_table_name: main.tickets ;;

  dimension: cust_id { type: number hidden: yes }
  dimension: priority {}
  dimension: is_open { type: yesno sql: ${TABLE}.closed_at IS NULL ;; description: "Nobody has closed it yet." }

  measure: urgent_tickets {
    type: count
    filters: [priority: "high", is_open: "yes"]
    description: "Tickets of high priority that are still open."
  }
}

view: customers {
  sql_table_name: main.customers ;;
  dimension: id { primary_key: yes type: number }
}
