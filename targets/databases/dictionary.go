package databases

// dictionary asks a database about itself.
type dictionary struct {
	columns    string // schema, table, column, type
	unique     string // schema, table, index, 1 if it is the primary key's and 2 if NULL is a value to it, column
	partly     string // schema, table, the statement that makes a unique index that does not hold for every row, or not for columns; empty: it has none
	references string // schema, table, column, their schema, table and column; keys of one column
}

// sqliteDictionary asks SQLite. Partial indexes and those over expressions stand by themselves: they do
// not keep every second row away.
func sqliteDictionary() dictionary {
	const tables = ` from sqlite_master m, `
	const ours = ` where m.type = 'table' and m.name not like 'sqlite\_%' escape '\'`
	return dictionary{
		columns: `select '', m.name, c.name, c.type` + tables + `pragma_table_info(m.name) c` + ours + ` order by m.name, c.cid`,
		unique: `select '', m.name, '', '1', c.name` + tables + `pragma_table_info(m.name) c` + ours + ` and c.pk > 0
			union all
			select * from (select '', m.name, i.name, '0', c.name` + tables + `pragma_index_list(m.name) i, pragma_index_info(i.name) c` + ours + `
				and i."unique" = 1 and i.origin <> 'pk' and i.partial = 0
				and not exists (select 1 from pragma_index_info(i.name) e where e.name is null)
				order by m.name, i.name, c.seqno)`,
		partly: `select '', m.name, x.sql` + tables + `pragma_index_list(m.name) i, sqlite_master x` + ours + `
			and i."unique" = 1 and x.type = 'index' and x.name = i.name and x.sql is not null
			and (i.partial = 1 or exists (select 1 from pragma_index_info(i.name) e where e.name is null))
			order by m.name, i.name`,
		references: `select '', m.name, f."from", '', f."table", coalesce(f."to", (select p.name from pragma_table_info(f."table") p where p.pk = 1), '')` + tables +
			`pragma_foreign_key_list(m.name) f` + ours + `
			and not exists (select 1 from pragma_foreign_key_list(m.name) o where o.id = f.id and o.seq > 0)
			order by m.name, f.id`,
	}
}

// postgresDictionary asks PostgreSQL's own catalogue, which knows partial indexes and expressions;
// information_schema does not. Whether NULL is a value is known to it since PostgreSQL 15. Columns that an index only includes are no part of
// its key. A partition is a part of a table that is listed, and no table of its own.
func postgresDictionary() dictionary {
	const schema = `case when pg_table_is_visible(t.oid) then '' else s.nspname end`
	const tables = ` join pg_namespace s on s.oid = t.relnamespace`
	const ours = ` where t.relkind in ('r', 'p') and not t.relispartition and s.nspname not like 'pg\_%' and s.nspname <> 'information_schema'`
	return dictionary{
		columns: `select ` + schema + `, t.relname, a.attname, format_type(a.atttypid, a.atttypmod)
			from pg_class t` + tables + ` join pg_attribute a on a.attrelid = t.oid` + ours + `
			and a.attnum > 0 and not a.attisdropped order by s.nspname, t.relname, a.attnum`,
		unique: `select ` + schema + `, t.relname, i.indexrelid::text,
			case when i.indisprimary then '1' when to_jsonb(i) ->> 'indnullsnotdistinct' = 'true' then '2' else '0' end, a.attname
			from pg_index i join pg_class t on t.oid = i.indrelid` + tables + `
			cross join lateral unnest(i.indkey[0:i.indnkeyatts - 1]) with ordinality k(attnum, place)
			join pg_attribute a on a.attrelid = t.oid and a.attnum = k.attnum` + ours + `
			and i.indisunique and i.indpred is null and i.indexprs is null
			order by s.nspname, t.relname, i.indexrelid, k.place`,
		partly: `select ` + schema + `, t.relname, coalesce(pg_get_indexdef(i.indexrelid), '')
			from pg_index i join pg_class t on t.oid = i.indrelid` + tables + ours + `
			and i.indisunique and (i.indpred is not null or i.indexprs is not null)
			order by s.nspname, t.relname, i.indexrelid`,
		references: `select ` + schema + `, t.relname, a.attname,
			case when pg_table_is_visible(u.oid) then '' else v.nspname end, u.relname, b.attname
			from pg_constraint f join pg_class t on t.oid = f.conrelid` + tables + `
			join pg_class u on u.oid = f.confrelid join pg_namespace v on v.oid = u.relnamespace
			join pg_attribute a on a.attrelid = t.oid and a.attnum = f.conkey[1]
			join pg_attribute b on b.attrelid = u.oid and b.attnum = f.confkey[1]` + ours + `
			and f.contype = 'f' and cardinality(f.conkey) = 1 order by s.nspname, t.relname, f.oid`,
	}
}

// mariadbDictionary asks MariaDB and MySQL, of the one database that the URL names. A table that keeps its history (with system versioning) shows the
// rows of now; where the column is named that says until when a row holds, each key has it, though now it is the same for all.
func mariadbDictionary() dictionary {
	return dictionary{
		columns: `select '', c.table_name, c.column_name, c.column_type from information_schema.columns c
			join information_schema.tables t on t.table_schema = c.table_schema and t.table_name = c.table_name
			where c.table_schema = database() and t.table_type in ('BASE TABLE', 'SYSTEM VERSIONED') order by c.table_name, c.ordinal_position`,
		unique: `select '', table_name, index_name, case when index_name = 'PRIMARY' then '1' else '0' end, column_name
			from information_schema.statistics s where table_schema = database() and non_unique = 0 and column_name is not null
			and not exists (select 1 from information_schema.columns c where c.table_schema = s.table_schema and c.table_name = s.table_name
				and c.column_name = s.column_name and c.generation_expression = 'ROW END')
			order by table_name, index_name, seq_in_index`,
		references: `select '', k.table_name, k.column_name, '', k.referenced_table_name, k.referenced_column_name
			from information_schema.key_column_usage k
			where k.table_schema = database() and k.referenced_table_schema = database()
			and not exists (select 1 from information_schema.key_column_usage o where o.constraint_schema = k.constraint_schema
				and o.constraint_name = k.constraint_name and o.table_name = k.table_name and o.ordinal_position > 1)
			order by k.table_name, k.constraint_name`,
	}
}
