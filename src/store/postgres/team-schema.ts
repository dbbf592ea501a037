import type { Generated } from "kysely";
import type { TeamRole } from "./entry.ts";

/** The tables of teams, in the schema `knack`. Times are milliseconds since 1970. */
export interface TeamTables {
  readonly team: { id: string; name: string; created_at: number; daily_bytes: number };
  readonly member: {
    team: string;
    id: string;
    name: string;
    login: string;
    role: TeamRole;
    /** Null for all of them. */
    repositories: string[] | null;
    invited_at: number;
    removed_at: number | null;
  };
  /**
   * The union of the ledgers of a team's machines, append only. `content` is the JSON that was signed; team, repository,
   * machine, author, sequence, at and kind are read out of it by the database. `n` is the order of arrival.
   */
  readonly entry: {
    n: Generated<number>;
    id: string;
    content: string;
    signature: string;
    team: Generated<string>;
    repository: Generated<string | null>;
    machine: Generated<string>;
    author: Generated<string>;
    sequence: Generated<number>;
    at: Generated<number>;
    kind: Generated<string>;
    received_at: Generated<number>;
  };
  /** Of each kind the latest for each repository, "" for none. */
  readonly digest: {
    team: Generated<string>;
    repository: Generated<string>;
    kind: Generated<string>;
    content: string;
    signature: string;
    made_at: Generated<number>;
  };
  readonly usage: { team: string; author: string; day: string; bytes: number };
}

/** Milliseconds since 1970 by the server's clock. */
const nowMs = "(extract(epoch from clock_timestamp()) * 1000)::bigint";

/** In these words, because the index below is found by them. */
export const isNoCount = "kind not in ('outcomes', 'measured')";

/**
 * What changed the schema, in order. Forward only: a release adds its own at the end and changes none that was released.
 * Each only adds, so that members with an older Knack go on working while and after it runs.
 */
export const teamMigrations: readonly (readonly string[])[] = [
  [
    `create table team (
      id text primary key check (id ~ '^[a-z0-9]{4,20}$'),
      name text not null,
      created_at bigint not null default ${nowMs},
      daily_bytes bigint not null default 16777216
    )`,
    `create table member (
      team text not null references team (id),
      id text not null,
      name text not null,
      login text not null unique,
      role text not null check (role in ('reader', 'member', 'maintainer')),
      repositories text[],
      invited_at bigint not null default ${nowMs},
      removed_at bigint,
      primary key (team, id)
    )`,
    `create table entry (
      n bigint generated always as identity,
      id text primary key,
      team text not null references team (id),
      repository text,
      machine text not null,
      author text not null,
      sequence bigint not null,
      at bigint not null,
      kind text not null,
      content text not null check (octet_length(content) <= 262144),
      signature text not null check (octet_length(signature) <= 1024),
      received_at bigint not null
    )`,
    "create unique index entry_arrived on entry (team, n)",
    `create index entry_to_read on entry (team, n) where ${isNoCount}`,
    "create index entry_of_repository on entry (team, repository, n)",
    "create index entry_of_kind on entry (team, kind, n)",
    "create index entry_of_machine on entry (team, machine, sequence)",
    `create table usage (
      team text not null, author text not null, day date not null, bytes bigint not null,
      primary key (team, author, day)
    )`,
    // The columns are read out of what was signed, so that neither says another thing than the other.
    `create function read_entry() returns trigger language plpgsql set search_path = knack, pg_temp as $$
    declare said jsonb;
    begin
      said := new.content::jsonb;
      if new.id is distinct from encode(sha256(convert_to(new.content || E'\\n' || new.signature, 'UTF8')), 'hex') then
        raise exception 'an entry''s id is not the digest of its content' using errcode = '23514';
      end if;
      new.team := said ->> 'team';
      new.repository := said ->> 'repository';
      new.machine := said ->> 'machine';
      new.author := said ->> 'author';
      new.sequence := (said ->> 'sequence')::bigint;
      new.at := (said ->> 'at')::bigint;
      new.kind := said ->> 'kind';
      new.received_at := ${nowMs};
      return new;
    end $$`,
    "create trigger entry_is_read before insert on entry for each row execute function read_entry()",
    // Numbers are given out one writer after the other: whoever has read up to a number has missed none before it.
    `create function order_entries() returns trigger language plpgsql set search_path = knack, pg_temp as $$
    begin
      perform pg_advisory_xact_lock(hashtext('knack.entry'));
      return null;
    end $$`,
    "create trigger entries_are_ordered before insert on entry for each statement execute function order_entries()",
    // Nobody fills the disks of the others.
    `create function count_usage() returns trigger language plpgsql security definer set search_path = knack, pg_temp as $$
    declare over_limit record;
    begin
      insert into usage as u (team, author, day, bytes)
        select team, author, current_date, sum(octet_length(content)) from added group by team, author
        on conflict (team, author, day) do update set bytes = u.bytes + excluded.bytes;
      select a.author, t.daily_bytes into over_limit from (select distinct team, author from added) a
        join team t on t.id = a.team
        join usage u on u.team = a.team and u.author = a.author and u.day = current_date
        where u.bytes > t.daily_bytes limit 1;
      if found then
        raise exception '% shared more today than the team allows (% bytes a day)', over_limit.author, over_limit.daily_bytes
          using errcode = 'KN001';
      end if;
      return null;
    end $$`,
    `create trigger usage_is_counted after insert on entry referencing new table as added
      for each statement execute function count_usage()`,
    `create function keep_entries() returns trigger language plpgsql as $$
    begin
      raise exception 'entries are only appended' using errcode = '42501';
    end $$`,
    "create trigger entries_stay before update on entry for each statement execute function keep_entries()",
    // What a maintainer's worker computed from the entries: signed like them, but only the latest of each kind is kept.
    `create table digest (
      team text not null references team (id),
      repository text not null,
      kind text not null,
      content text not null check (octet_length(content) <= 4194304),
      signature text not null check (octet_length(signature) <= 1024),
      made_at bigint not null,
      primary key (team, repository, kind)
    )`,
    `create function read_digest() returns trigger language plpgsql set search_path = knack, pg_temp as $$
    declare said jsonb;
    begin
      said := new.content::jsonb;
      new.team := said ->> 'team';
      new.repository := coalesce(said ->> 'repository', '');
      new.kind := said ->> 'kind';
      new.made_at := ${nowMs};
      return new;
    end $$`,
    "create trigger digest_is_read before insert or update on digest for each row execute function read_digest()",
    // Who is asking. Definer's rights, because the answer decides what the asker may read.
    `create function me() returns member language sql stable security definer set search_path = knack, pg_temp as $$
      select * from member where login = session_user and removed_at is null
    $$`,
    "create function my_team() returns text language sql stable as $$ select (knack.me()).team $$",
    "create function my_id() returns text language sql stable as $$ select (knack.me()).id $$",
    "create function my_role() returns text language sql stable as $$ select (knack.me()).role $$",
    "create function my_repositories() returns text[] language sql stable as $$ select (knack.me()).repositories $$",
    ...["team", "member", "entry", "digest", "usage"].map(
      (table) => `alter table ${table} enable row level security`,
    ),
    "create policy own_team on team for select using (id = (select my_team()))",
    "create policy own_team on member for select using (team = (select my_team()))",
    "create policy own_usage on usage for select using (team = (select my_team()) and author = (select my_id()))",
    // Asked once for a statement, not for each row.
    `create policy own_repositories on entry for select using (
      team = (select my_team())
      and (repository is null or (select my_repositories()) is null or repository = any ((select my_repositories())::text[]))
    )`,
    `create policy own_entries on entry for insert with check (
      team = (select my_team()) and author = (select my_id()) and (select my_role()) in ('member', 'maintainer')
      and (repository is null or (select my_repositories()) is null or repository = any ((select my_repositories())::text[]))
    )`,
    `create policy own_repositories on digest for select using (
      team = (select my_team())
      and (repository = '' or (select my_repositories()) is null or repository = any ((select my_repositories())::text[]))
    )`,
    "create policy of_maintainers on digest for all using (team = (select my_team()) and (select my_role()) = 'maintainer')",
    // A role that all members share has the grants; it is of this database alone, because roles are of the whole server.
    `create function members_role() returns text language sql stable as $$
      select 'knack_members_' || oid from pg_database where datname = current_database()
    $$`,
    // Maintainers' workers keep what they compute in schemas of their own, which are all of theirs together.
    "create function workers_role(team_id text) returns text language sql immutable as $$ select 'knack_workers_' || team_id $$",
    `create function create_team(team_id text, team_name text) returns void language plpgsql as $$
    begin
      insert into team (id, name) values (team_id, team_name);
      execute format('create role %I nologin', workers_role(team_id));
      execute format('grant %I to current_user', workers_role(team_id));
      execute format('create schema %I authorization %I', 'knack_store_' || team_id, workers_role(team_id));
      execute format('create schema %I authorization %I', 'knack_jobs_' || team_id, workers_role(team_id));
    end $$`,
    `create function drop_work() returns trigger language plpgsql as $$
    begin
      execute format('drop schema if exists %I cascade', 'knack_store_' || old.id);
      execute format('drop schema if exists %I cascade', 'knack_jobs_' || old.id);
      execute format('drop role if exists %I', workers_role(old.id));
      return null;
    end $$`,
    "create trigger work_goes_with_team after delete on team for each row execute function drop_work()",
    `create function may_manage(asked text) returns boolean language sql stable as $$
      select pg_has_role(session_user, (select nspowner from pg_namespace where nspname = 'knack'), 'member')
        or coalesce((knack.me()).team = asked and (knack.me()).role = 'maintainer', false)
    $$`,
    `create function invite(team_id text, member_id text, member_name text, member_role text, member_repositories text[],
      member_login text, verifier text) returns void
      language plpgsql security definer set search_path = knack, pg_temp as $$
    begin
      if not may_manage(team_id) then
        raise exception 'only maintainers invite members' using errcode = '42501';
      end if;
      if member_login !~ '^knack_[a-z0-9_]{1,50}$' or verifier !~ '^SCRAM-SHA-256[$]' then
        raise exception 'login or password verifier is malformed' using errcode = '22023';
      end if;
      execute format('create role %I login nosuperuser nocreatedb nocreaterole connection limit %s password %L',
        member_login, case member_role when 'maintainer' then -1 else 20 end, verifier);
      execute format('grant %I to %I', members_role(), member_login);
      if member_role = 'maintainer' then
        execute format('grant %I to %I', workers_role(team_id), member_login);
      end if;
      insert into member (team, id, name, login, role, repositories)
        values (team_id, member_id, member_name, member_login, member_role, member_repositories);
    end $$`,
    `create function change_member(team_id text, member_id text, member_role text, member_repositories text[]) returns void
      language plpgsql security definer set search_path = knack, pg_temp as $$
    declare changed text;
    begin
      if not may_manage(team_id) then
        raise exception 'only maintainers change members' using errcode = '42501';
      end if;
      update member set role = member_role, repositories = member_repositories
        where team = team_id and id = member_id and removed_at is null returning login into changed;
      if changed is not null and member_role = 'maintainer' then
        execute format('grant %I to %I', workers_role(team_id), changed);
      elsif changed is not null then
        execute format('revoke %I from %I', workers_role(team_id), changed);
      end if;
    end $$`,
    `create function remove_member(team_id text, member_id text) returns void
      language plpgsql security definer set search_path = knack, pg_temp as $$
    declare gone text;
    begin
      if not may_manage(team_id) and my_id() is distinct from member_id then
        raise exception 'only maintainers remove members' using errcode = '42501';
      end if;
      update member set removed_at = ${nowMs} where team = team_id and id = member_id and removed_at is null
        returning login into gone;
      if gone is not null and exists (select from pg_roles where rolname = gone and not rolsuper) and gone like 'knack\\_%' then
        execute format('alter role %I nologin', gone);
      end if;
    end $$`,
    `create function delete_team(team_id text) returns void
      language plpgsql security definer set search_path = knack, pg_temp as $$
    declare gone text;
    begin
      -- The login that asks cannot remove itself, so that no member is enough.
      if not pg_has_role(session_user, (select nspowner from pg_namespace where nspname = 'knack'), 'member') then
        raise exception 'only the owner of the database deletes a team' using errcode = '42501';
      end if;
      delete from entry where team = team_id;
      delete from usage where team = team_id;
      for gone in delete from member where team = team_id returning login loop
        if gone like 'knack\\_%' and exists (select from pg_roles where rolname = gone and not rolsuper) then
          execute format('drop role %I', gone);
        end if;
      end loop;
      delete from team where id = team_id;
    end $$`,
    "do $$ begin execute format('create role %I nologin', members_role()); exception when duplicate_object then null; end $$",
    `do $$ begin
      execute format('grant usage on schema knack to %I', members_role());
      execute format('grant select on migration, team, member, entry, digest, usage to %I', members_role());
      execute format('grant insert on entry to %I', members_role());
      execute format('grant insert, update on digest to %I', members_role());
    end $$`,
    "revoke execute on all functions in schema knack from public",
    "do $$ begin execute format('grant execute on all functions in schema knack to %I', members_role()); end $$",
  ],
  [
    // Who was removed may be invited again, with another login.
    `create or replace function invite(team_id text, member_id text, member_name text, member_role text,
      member_repositories text[], member_login text, verifier text) returns void
      language plpgsql security definer set search_path = knack, pg_temp as $$
    declare before member;
    begin
      if not may_manage(team_id) then
        raise exception 'only maintainers invite members' using errcode = '42501';
      end if;
      if member_login !~ '^knack_[a-z0-9_]{1,50}$' or verifier !~ '^SCRAM-SHA-256[$]' then
        raise exception 'login or password verifier is malformed' using errcode = '22023';
      end if;
      select * into before from member where team = team_id and id = member_id for update;
      if found and before.removed_at is null then
        raise exception '% is a member already', member_name using errcode = 'KN002';
      elsif found and before.login like 'knack\\_%' then
        execute format('drop role if exists %I', before.login);
      end if;
      execute format('create role %I login nosuperuser nocreatedb nocreaterole connection limit %s password %L',
        member_login, case member_role when 'maintainer' then -1 else 20 end, verifier);
      execute format('grant %I to %I', members_role(), member_login);
      if member_role = 'maintainer' then
        execute format('grant %I to %I', workers_role(team_id), member_login);
      end if;
      insert into member (team, id, name, login, role, repositories)
        values (team_id, member_id, member_name, member_login, member_role, member_repositories)
        on conflict (team, id) do update set name = excluded.name, login = excluded.login, role = excluded.role,
          repositories = excluded.repositories, removed_at = null;
    end $$`,
    // A connection that is open stays so: it may go on with nothing of the team's.
    `create or replace function remove_member(team_id text, member_id text) returns void
      language plpgsql security definer set search_path = knack, pg_temp as $$
    declare gone text;
    begin
      if not may_manage(team_id) and my_id() is distinct from member_id then
        raise exception 'only maintainers remove members' using errcode = '42501';
      end if;
      update member set removed_at = ${nowMs} where team = team_id and id = member_id and removed_at is null
        returning login into gone;
      if gone is not null and exists (select from pg_roles where rolname = gone and not rolsuper) and gone like 'knack\\_%' then
        execute format('alter role %I nologin', gone);
        execute format('revoke %I from %I', workers_role(team_id), gone);
      end if;
    end $$`,
  ],
];
