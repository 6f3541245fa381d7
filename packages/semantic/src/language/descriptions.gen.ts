// Made by `npm run generate` from docs/modelling-features.md.
export const DESCRIPTIONS: Readonly<
  Record<string, Readonly<Record<string, { readonly text: string; readonly words?: Readonly<Record<string, string>> }>>>
> = {
  "a file of the model": {
    "cubes": {
      "text": "The cubes that the file defines"
    },
    "views": {
      "text": "The views that the file defines"
    }
  },
  "a cube": {
    "name": {
      "text": "The name that queries and references use"
    },
    "title": {
      "text": "What clients show instead of the name"
    },
    "description": {
      "text": "What clients tell about it"
    },
    "meta": {
      "text": "Free data for clients"
    },
    "public": {
      "text": "`false` hides it from queries; views may still include it"
    },
    "extends": {
      "text": "Another cube, whose keys and members it takes over"
    },
    "sql_table": {
      "text": "The table or view of the data source"
    },
    "sql": {
      "text": "A query instead of a table"
    },
    "data_source": {
      "text": "Which data source of the deployment it reads; without it, `default`"
    },
    "refresh_key": {
      "text": "How long answers that read the cube are kept"
    },
    "joins": {
      "text": "Which other cubes its rows belong to"
    },
    "dimensions": {
      "text": "Values of rows"
    },
    "measures": {
      "text": "Aggregates of rows"
    },
    "segments": {
      "text": "Named choices of rows"
    },
    "hierarchies": {
      "text": "Lists of dimensions, from the coarse to the fine"
    },
    "access_policy": {
      "text": "Who sees which rows and members"
    }
  },
  "`refresh_key`": {
    "every": {
      "text": "Answers are kept for this long; beside `sql`, the query is asked this often"
    },
    "sql": {
      "text": "Answers are kept as long as this query returns the same"
    }
  },
  "a join": {
    "name": {
      "text": "The cube that is joined"
    },
    "sql": {
      "text": "The condition, which names both cubes"
    },
    "relationship": {
      "text": "How many rows belong to one",
      "words": {
        "many_to_one": "Several rows of this cube belong to one of the other",
        "one_to_many": "One row of this cube has several of the other",
        "one_to_one": "One row of this cube has one of the other"
      }
    }
  },
  "a dimension": {
    "name": {
      "text": "The name that queries and references use"
    },
    "title": {
      "text": "What clients show instead of the name"
    },
    "description": {
      "text": "What clients tell about it"
    },
    "meta": {
      "text": "Free data for clients"
    },
    "public": {
      "text": "`false` hides it from queries; views may still include it"
    },
    "type": {
      "text": "The type of its values",
      "words": {
        "string": "Text",
        "number": "Numbers, with all of their digits",
        "boolean": "True and false",
        "time": "Moments in UTC"
      }
    },
    "sql": {
      "text": "The value: a column, or an expression with references"
    },
    "case": {
      "text": "The value by conditions"
    },
    "primary_key": {
      "text": "`true` for the dimension that identifies a row; it is hidden unless `public` is `true`"
    },
    "sub_query": {
      "text": "`true` if the value is a measure of another cube for each row"
    },
    "granularities": {
      "text": "Periods of its own for a time"
    },
    "format": {
      "text": "How clients show the values",
      "words": {
        "imageUrl": "The address of a picture",
        "link": "An address",
        "id": "An id",
        "currency": "Money",
        "percent": "A percentage",
        "number": "A number"
      }
    }
  },
  "a case": {
    "when": {
      "text": "Conditions with their labels; the first that is true counts"
    },
    "else": {
      "text": "If no condition is true"
    }
  },
  "a `when` of a case": {
    "sql": {
      "text": "The condition"
    },
    "label": {
      "text": "The value: a text, or `{ sql }`"
    }
  },
  "the `else` of a case": {
    "label": {
      "text": "The value: a text, or `{ sql }`"
    }
  },
  "a label": {
    "sql": {
      "text": "The value as an expression"
    }
  },
  "a granularity": {
    "name": {
      "text": "The name that queries use"
    },
    "title": {
      "text": "What clients show"
    },
    "interval": {
      "text": "How long a period is"
    },
    "offset": {
      "text": "How far periods begin after those of the calendar"
    },
    "origin": {
      "text": "A moment at which a period begins"
    }
  },
  "a measure": {
    "name": {
      "text": "The name that queries and references use"
    },
    "title": {
      "text": "What clients show instead of the name"
    },
    "description": {
      "text": "What clients tell about it"
    },
    "meta": {
      "text": "Free data for clients"
    },
    "public": {
      "text": "`false` hides it from queries; views may still include it"
    },
    "type": {
      "text": "How rows are aggregated",
      "words": {
        "count": "The number of rows, or of values that are not null",
        "count_distinct": "The number of different values",
        "count_distinct_approx": "About that, and faster",
        "sum": "The sum",
        "avg": "The mean",
        "min": "The least value",
        "max": "The largest value",
        "number": "An expression of other measures, or an aggregate that `sql` writes itself"
      }
    },
    "sql": {
      "text": "What is aggregated"
    },
    "filters": {
      "text": "Only rows for which all of them are true count"
    },
    "rolling_window": {
      "text": "Rows before and after each period count too"
    },
    "drill_members": {
      "text": "Dimensions and measures that show what is behind a number"
    },
    "format": {
      "text": "How clients show the value",
      "words": {
        "currency": "Money",
        "percent": "A percentage",
        "number": "A number"
      }
    }
  },
  "a filter of a measure": {
    "sql": {
      "text": "The condition"
    }
  },
  "a rolling window": {
    "trailing": {
      "text": "How far it reaches back: an interval, or `unbounded`"
    },
    "leading": {
      "text": "How far it reaches ahead: an interval, or `unbounded`"
    },
    "offset": {
      "text": "Where both are counted from",
      "words": {
        "start": "The start of the period",
        "end": "The end of the period, which is the usual"
      }
    }
  },
  "a segment": {
    "name": {
      "text": "The name that queries and references use"
    },
    "title": {
      "text": "What clients show instead of the name"
    },
    "description": {
      "text": "What clients tell about it"
    },
    "meta": {
      "text": "Free data for clients"
    },
    "public": {
      "text": "`false` hides it from queries; views may still include it"
    },
    "sql": {
      "text": "The condition on rows"
    }
  },
  "a hierarchy": {
    "name": {
      "text": "Its name"
    },
    "title": {
      "text": "What clients show instead of the name"
    },
    "description": {
      "text": "A note for who reads the model; clients do not get it"
    },
    "meta": {
      "text": "Free data for who reads the model; clients do not get it"
    },
    "public": {
      "text": "`false` hides it from clients"
    },
    "levels": {
      "text": "Dimensions, from the coarse to the fine"
    }
  },
  "a view": {
    "name": {
      "text": "The name that queries and references use"
    },
    "title": {
      "text": "What clients show instead of the name"
    },
    "description": {
      "text": "What clients tell about it"
    },
    "meta": {
      "text": "Free data for clients"
    },
    "public": {
      "text": "`false` hides it from queries; views may still include it"
    },
    "extends": {
      "text": "Another view, whose keys and cubes it takes over"
    },
    "cubes": {
      "text": "The cubes whose members it shows"
    },
    "access_policy": {
      "text": "Who sees which rows and members, beside the policies of the cubes"
    },
    "folders": {
      "text": "Members that clients show together"
    }
  },
  "a folder of a view": {
    "name": {
      "text": "What clients show"
    },
    "includes": {
      "text": "Names of members of the view, and folders"
    }
  },
  "an item of `cubes` in a view": {
    "join_path": {
      "text": "The cubes that lead to it, as `orders.customers`"
    },
    "includes": {
      "text": "`*`, or the members that are shown"
    },
    "excludes": {
      "text": "Members that are left out"
    },
    "prefix": {
      "text": "`true` puts the name of the cube before the names of its members"
    },
    "alias": {
      "text": "Another name for the prefix"
    }
  },
  "an item of `includes`": {
    "name": {
      "text": "The member of the cube"
    },
    "alias": {
      "text": "Another name in the view"
    },
    "title": {
      "text": "Another title in the view"
    },
    "description": {
      "text": "Another description in the view"
    },
    "meta": {
      "text": "Other free data in the view"
    },
    "public": {
      "text": "`false` hides it from queries"
    }
  },
  "a policy": {
    "group": {
      "text": "The group that it admits, or `\"*\"` for everybody"
    },
    "groups": {
      "text": "Several groups"
    },
    "row_level": {
      "text": "Which rows it opens; without it, all"
    },
    "member_level": {
      "text": "Which members it opens; without it, all"
    }
  },
  "`row_level`": {
    "filters": {
      "text": "Conditions that all must be true"
    },
    "allow_all": {
      "text": "`true` opens all rows"
    }
  },
  "`member_level`": {
    "includes": {
      "text": "`*`, or the members that it opens"
    },
    "excludes": {
      "text": "`*`, or members that it does not open"
    }
  },
  "a filter of a policy": {
    "member": {
      "text": "The dimension that is compared"
    },
    "values": {
      "text": "What it is compared with: texts, numbers, or values of the viewer, as `\"{ userAttributes.region }\"`"
    },
    "and": {
      "text": "A list of conditions that all must be true"
    },
    "or": {
      "text": "A list of conditions of which one must be true"
    },
    "operator": {
      "text": "How it is compared. Null is in the rows of `notSet` only",
      "words": {
        "equals": "Is one of the values",
        "notEquals": "Is none of the values",
        "contains": "Has one of the values in it, in upper or lower case",
        "notContains": "Has none of the values in it",
        "startsWith": "Begins with one of the values",
        "notStartsWith": "Begins with none of the values",
        "endsWith": "Ends with one of the values",
        "notEndsWith": "Ends with none of the values",
        "gt": "Is greater",
        "gte": "Is greater or equal",
        "lt": "Is less",
        "lte": "Is less or equal",
        "set": "Is not null",
        "notSet": "Is null",
        "inDateRange": "Is within the dates",
        "notInDateRange": "Is not within the dates",
        "beforeDate": "Is before the date",
        "beforeOrOnDate": "Is before or on the date",
        "afterDate": "Is after the date",
        "afterOrOnDate": "Is after or on the date"
      }
    }
  }
};
