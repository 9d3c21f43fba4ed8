-- Aroko's database. Three tables carry the product: inbox (what came), turns and steps (what was decided), outbox (what
-- went). Everything people or models wrote is ciphertext (…_cipher, with the key it names in key_id); plain are ids,
-- times, kinds, states, codes, tool names, REFs and counts. Equality on content goes by keyed HMAC (…_hmac).
-- Applied as aroko_owner. aroko_app works under forced row-level security; aroko_read only reads, under the same.
-- Foreign keys and unique indexes are checked past row-level security. So the tenant is part of every reference between
-- its rows, and comes first in every unique index of them: no row can point at another tenant's or stand in its way.

create extension if not exists btree_gist;

create function aroko_tenant() returns uuid language sql stable parallel safe as
  $$ select nullif(current_setting('app.tenant', true), '')::uuid $$;

-- People and places -----------------------------------------------------------------------------------------------

create table tenants (
  id uuid primary key,
  slug text not null unique check (slug ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  name text not null,
  created_at timestamptz not null default now()
);

create table channel_accounts (
  id uuid primary key,
  tenant_id uuid not null references tenants,
  channel text not null check (channel in ('web', 'whatsapp-cloud', 'whatsapp-web')),
  -- The platform's public id of the account (a phone number id); for the web chat a name of ours.
  account_key text not null,
  created_at timestamptz not null default now(),
  disabled_at timestamptz,
  unique (channel, account_key),
  unique (tenant_id, id)
);

create table contacts (
  id uuid primary key,
  tenant_id uuid not null references tenants,
  kind text not null check (kind in ('person', 'group')),
  profile_cipher bytea,
  key_id uuid,
  created_at timestamptz not null default now(),
  blocked_at timestamptz,
  erased_at timestamptz,
  unique (tenant_id, id)
);

create table contact_aliases (
  id uuid primary key,
  tenant_id uuid not null references tenants,
  contact_id uuid not null,
  channel text not null,
  kind text not null,
  address_hmac bytea not null,
  address_cipher bytea,
  key_id uuid,
  created_at timestamptz not null default now(),
  unique (tenant_id, channel, kind, address_hmac),
  foreign key (tenant_id, contact_id) references contacts (tenant_id, id)
);

-- A data key belongs to the person the content is about; contact_id null: the tenant's own.
create table data_keys (
  id uuid primary key,
  tenant_id uuid not null references tenants,
  contact_id uuid,
  master_version int not null,
  wrapped bytea,
  created_at timestamptz not null default now(),
  destroyed_at timestamptz,
  check ((destroyed_at is null) = (wrapped is not null)),
  foreign key (tenant_id, contact_id) references contacts (tenant_id, id)
);
create unique index data_keys_live_of_contact on data_keys (tenant_id, contact_id)
  where destroyed_at is null and contact_id is not null;
create unique index data_keys_live_of_tenant on data_keys (tenant_id) where destroyed_at is null and contact_id is null;

create table chats (
  id uuid primary key,
  tenant_id uuid not null references tenants,
  account_id uuid not null,
  contact_id uuid not null,
  kind text not null check (kind in ('direct', 'group')),
  address_hmac bytea not null,
  address_cipher bytea,
  key_id uuid,
  -- One numbering for what came and what went: the order that both sides see.
  last_sequence int not null default 0,
  paused_at timestamptz,
  created_at timestamptz not null default now(),
  unique (tenant_id, account_id, address_hmac),
  unique (tenant_id, id),
  foreign key (tenant_id, account_id) references channel_accounts (tenant_id, id),
  foreign key (tenant_id, contact_id) references contacts (tenant_id, id)
);

-- What came --------------------------------------------------------------------------------------------------------

create table turns (
  id uuid primary key,
  tenant_id uuid not null references tenants,
  chat_id uuid not null,
  first_sequence int not null,
  up_to int not null,
  -- claimed: rows are fixed. decided: the decision is stored. running: a run has it. closed: with an outcome.
  state text not null check (state in ('claimed', 'decided', 'running', 'closed')),
  outcome text,
  decision_id uuid,
  route text check (route in ('answer', 'tools', 'fixed', 'silent', 'decided', 'handOff')),
  gate text,
  because text,
  role_id text,
  effort text,
  actor text,
  config_hash text,
  -- The route in full and the profile, as the workflow got them: ids, names and numbers only.
  decision jsonb,
  decision_expires_at timestamptz,
  tainted boolean not null default false,
  claimed_at timestamptz not null default now(),
  decided_at timestamptz,
  closed_at timestamptz,
  unique (tenant_id, chat_id, first_sequence),
  unique (tenant_id, decision_id),
  unique (tenant_id, id),
  foreign key (tenant_id, chat_id) references chats (tenant_id, id)
);
create index turns_unfinished on turns (chat_id, first_sequence) where state in ('claimed', 'decided');

create table inbox (
  id uuid primary key,
  tenant_id uuid not null references tenants,
  chat_id uuid not null,
  contact_id uuid not null,
  account_id uuid not null,
  channel text not null,
  external_id text not null,
  sequence int not null,
  kind text not null,
  -- The arrival gate's word: turn (goes on to the turn gates), or why it was stored and left.
  arrival text not null,
  content_cipher bytea,
  key_id uuid,
  content_hmac bytea not null,
  quoted_external_id text,
  sent_at timestamptz,
  received_at timestamptz not null default now(),
  turn_id uuid,
  state text not null default 'accepted'
    check (state in ('accepted', 'answered', 'handed_off', 'refused', 'merged', 'ignored', 'expired')),
  reason text,
  settled_at timestamptz,
  unique (tenant_id, channel, account_id, external_id),
  unique (tenant_id, chat_id, sequence),
  check ((state = 'accepted') = (settled_at is null)),
  unique (tenant_id, id),
  foreign key (tenant_id, chat_id) references chats (tenant_id, id),
  foreign key (tenant_id, contact_id) references contacts (tenant_id, id),
  foreign key (tenant_id, account_id) references channel_accounts (tenant_id, id),
  foreign key (tenant_id, turn_id) references turns (tenant_id, id)
);
create index inbox_open on inbox (tenant_id, received_at) where state = 'accepted';
create index inbox_unclaimed on inbox (chat_id, sequence) where turn_id is null and state = 'accepted';
create index inbox_of_turn on inbox (turn_id);

-- What was decided -------------------------------------------------------------------------------------------------

create table tool_runs (
  turn_id uuid primary key,
  tenant_id uuid not null references tenants,
  chat_id uuid not null,
  contact_id uuid not null,
  state text not null check (state in ('detecting', 'planning', 'validating', 'waiting', 'executing', 'summarizing',
    'succeeded', 'failed', 'refused', 'asked', 'no_tool', 'already_open', 'unknown')),
  code text,
  candidates jsonb not null default '[]',
  config_hash text not null,
  -- HMAC, under the person's key, of tool and canonical arguments: the same request again finds this run.
  request_key bytea,
  open boolean not null default true,
  started_at timestamptz not null default now(),
  closed_at timestamptz,
  check (open = (closed_at is null)),
  unique (tenant_id, turn_id),
  foreign key (tenant_id, turn_id) references turns (tenant_id, id),
  foreign key (tenant_id, chat_id) references chats (tenant_id, id),
  foreign key (tenant_id, contact_id) references contacts (tenant_id, id)
);
create unique index tool_runs_open_request on tool_runs (tenant_id, chat_id, request_key)
  where open and request_key is not null;
create index tool_runs_recent on tool_runs (tenant_id, started_at desc);

create table steps (
  id uuid primary key,
  tenant_id uuid not null references tenants,
  turn_id uuid not null,
  ordinal int not null,
  tool text not null,
  effect text,
  gate text check (gate in ('allow', 'confirm', 'approve', 'deny')),
  arguments_cipher bytea not null,
  arguments_hash text not null,
  key_id uuid not null,
  because_cipher bytea,
  state text not null check (state in ('proposed', 'accepted', 'rejected', 'started', 'succeeded', 'failed', 'refused', 'unknown')),
  rule text,
  failed_check text,
  code text,
  tainted boolean not null default false,
  idempotency_key text not null,
  fence uuid,
  attempts int not null default 0,
  started_at timestamptz,
  call_by timestamptz,
  finished_at timestamptz,
  result_id uuid,
  result_cipher bytea,
  result_bytes int,
  partial boolean not null default false,
  unique (tenant_id, turn_id, ordinal),
  unique (tenant_id, idempotency_key),
  unique (tenant_id, id),
  foreign key (tenant_id, turn_id) references tool_runs (tenant_id, turn_id)
);

create table approvals (
  id uuid primary key,
  tenant_id uuid not null references tenants,
  chat_id uuid not null,
  turn_id uuid not null,
  step_id uuid not null,
  ref text not null,
  gate text not null check (gate in ('confirm', 'approve')),
  rule text not null,
  tool text not null,
  -- SHA-256 of the canonical JSON (RFC 8785) of tool and arguments: what was approved is exactly what runs.
  arguments_hash text not null,
  config_hash text not null,
  state text not null default 'open' check (state in ('open', 'approved', 'rejected', 'expired', 'used')),
  asked_at timestamptz not null default now(),
  expires_at timestamptz not null,
  decided_at timestamptz,
  used_at timestamptz,
  -- Set when the run has taken note; until then the sweep rings again.
  heard_at timestamptz,
  check ((state = 'open') = (decided_at is null)),
  unique (tenant_id, id),
  foreign key (tenant_id, chat_id) references chats (tenant_id, id),
  foreign key (tenant_id, turn_id) references tool_runs (tenant_id, turn_id),
  foreign key (tenant_id, step_id) references steps (tenant_id, id)
);
create unique index approvals_open_ref on approvals (tenant_id, ref) where state = 'open';
create unique index approvals_of_step on approvals (tenant_id, step_id);
create index approvals_recent on approvals (tenant_id, asked_at desc);

create table approval_decisions (
  id uuid primary key,
  tenant_id uuid not null references tenants,
  approval_id uuid not null,
  decision text not null check (decision in ('approve', 'reject', 'edit', 'expire')),
  surface text not null,
  approver text not null,
  reason_cipher bytea,
  edits_cipher bytea,
  key_id uuid,
  decided_at timestamptz not null default now(),
  foreign key (tenant_id, approval_id) references approvals (tenant_id, id)
);

create table open_questions (
  id uuid primary key,
  tenant_id uuid not null references tenants,
  chat_id uuid not null,
  turn_id uuid not null,
  -- repeat: the same was done lately, is another one meant?
  kind text not null default 'missing' check (kind in ('missing', 'confirm', 'repeat')),
  tool text,
  missing text[] not null default '{}',
  arguments_cipher bytea,
  key_id uuid,
  tainted boolean not null default false,
  asked_at timestamptz not null default now(),
  expires_at timestamptz not null,
  closed_at timestamptz,
  closed_by text,
  foreign key (tenant_id, chat_id) references chats (tenant_id, id),
  foreign key (tenant_id, turn_id) references turns (tenant_id, id)
);
-- One at a time (spec A4a).
create unique index open_questions_of_chat on open_questions (tenant_id, chat_id) where closed_at is null;

create table contexts (
  id uuid primary key,
  tenant_id uuid not null references tenants,
  chat_id uuid not null,
  turn_id uuid not null,
  step_id uuid,
  tool text not null,
  content_cipher bytea not null,
  key_id uuid not null,
  tainted boolean not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  foreign key (tenant_id, chat_id) references chats (tenant_id, id),
  foreign key (tenant_id, turn_id) references turns (tenant_id, id),
  foreign key (tenant_id, step_id) references steps (tenant_id, id)
);
create index contexts_of_chat on contexts (chat_id, created_at desc);

-- What went --------------------------------------------------------------------------------------------------------

create table outbox (
  id uuid primary key,
  tenant_id uuid not null references tenants,
  chat_id uuid not null,
  turn_id uuid,
  origin_kind text not null,
  origin_id uuid not null,
  ordinal int not null default 0,
  author text not null default 'assistant' check (author in ('assistant', 'human')),
  kind text not null,
  content_cipher bytea,
  key_id uuid,
  content_hmac bytea,
  tainted boolean not null default false,
  -- The message this one answers: shown as a quote where several answers may be under way.
  answers_message_id uuid,
  sequence int,
  state text not null default 'planned' check (state in ('planned', 'sending', 'sent', 'failed', 'unknown', 'discarded')),
  code text,
  external_id text,
  fence uuid,
  attempts int not null default 0,
  planned_at timestamptz not null default now(),
  sending_at timestamptz,
  settled_at timestamptz,
  unique (tenant_id, origin_kind, origin_id, ordinal),
  unique (tenant_id, chat_id, sequence),
  check (state <> 'sent' or sequence is not null),
  foreign key (tenant_id, chat_id) references chats (tenant_id, id),
  foreign key (tenant_id, turn_id) references turns (tenant_id, id),
  foreign key (tenant_id, answers_message_id) references inbox (tenant_id, id)
);
create index outbox_open on outbox (tenant_id, planned_at) where state in ('planned', 'sending', 'unknown');

-- Trust ------------------------------------------------------------------------------------------------------------

create table switches (
  id uuid primary key,
  tenant_id uuid not null references tenants,
  name text not null,
  scope_id uuid,
  value text not null,
  changed_by text not null,
  changed_at timestamptz not null default now()
);
create unique index switches_of_tenant on switches (tenant_id, name, coalesce(scope_id, '00000000-0000-0000-0000-000000000000'));

-- What foreign errors said, encrypted: they carry values, so they never travel further than this table.
create table failures (
  id uuid primary key,
  tenant_id uuid references tenants,
  activity text not null,
  workflow_id text,
  type text not null,
  code text,
  detail_cipher bytea,
  key_id uuid,
  happened_at timestamptz not null default now()
);

create table model_calls (
  id uuid primary key,
  tenant_id uuid not null references tenants,
  chat_id uuid not null,
  turn_id uuid,
  purpose text not null,
  model text not null,
  outcome text not null,
  input_tokens int not null default 0,
  output_tokens int not null default 0,
  latency_ms int not null default 0,
  called_at timestamptz not null default now(),
  foreign key (tenant_id, chat_id) references chats (tenant_id, id),
  foreign key (tenant_id, turn_id) references turns (tenant_id, id)
);
create index model_calls_of_chat on model_calls (chat_id, called_at);

create table login_links (
  token_hash bytea primary key,
  tenant_id uuid not null references tenants,
  owner_id text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  used_at timestamptz
);

create table sessions (
  token_hash bytea primary key,
  tenant_id uuid not null references tenants,
  owner_id text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  ended_at timestamptz
);

create table audit_heads (
  tenant_id uuid not null references tenants,
  stream text not null,
  last_number int not null,
  last_hash bytea not null,
  primary key (tenant_id, stream)
);

create table audit (
  tenant_id uuid not null references tenants,
  stream text not null,
  number int not null,
  event text not null,
  subject_id uuid,
  actor text not null,
  -- Ids, codes and counts only.
  facts jsonb not null,
  happened_at timestamptz not null,
  previous_hash bytea not null,
  hash bytea not null,
  primary key (tenant_id, stream, number)
);
create index audit_of_subject on audit (tenant_id, subject_id);

create table audit_anchors (
  id uuid primary key,
  tenant_id uuid not null references tenants,
  root bytea not null,
  streams int not null,
  anchored_at timestamptz not null default now()
);

-- The sample provider's own data: a calendar ------------------------------------------------------------------------

create table bookings (
  id uuid primary key,
  tenant_id uuid not null references tenants,
  contact_id uuid,
  resource text not null,
  starts_at timestamptz not null,
  ends_at timestamptz not null check (ends_at > starts_at),
  state text not null default 'reserved' check (state in ('reserved', 'cancelled')),
  details_cipher bytea,
  key_id uuid,
  request_key text,
  created_at timestamptz not null default now(),
  unique (tenant_id, request_key),
  -- A slot can't be taken twice, whoever asks and however many at once.
  constraint bookings_no_overlap exclude using gist
    (tenant_id with =, resource with =, tstzrange(starts_at, ends_at) with &&) where (state = 'reserved'),
  unique (tenant_id, id),
  foreign key (tenant_id, contact_id) references contacts (tenant_id, id)
);

-- Rights -----------------------------------------------------------------------------------------------------------

do $$
declare
  t text;
begin
  grant usage on schema public to aroko_app, aroko_read;
  foreach t in array array['tenants', 'channel_accounts', 'contacts', 'contact_aliases', 'data_keys', 'chats', 'turns',
    'inbox', 'tool_runs', 'steps', 'approvals', 'approval_decisions', 'open_questions', 'contexts', 'outbox', 'switches',
    'failures', 'model_calls', 'login_links', 'sessions', 'audit_heads', 'audit', 'audit_anchors', 'bookings']
  loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format('create policy tenant_rows on %I using (%s = aroko_tenant()) with check (%s = aroko_tenant())', t,
      case when t = 'tenants' then 'id' else 'tenant_id' end, case when t = 'tenants' then 'id' else 'tenant_id' end);
    execute format('grant select on %I to aroko_app, aroko_read', t);
  end loop;
end $$;

grant insert, update on tenants, channel_accounts, contacts, contact_aliases, data_keys, chats, turns, inbox, tool_runs,
  steps, approvals, open_questions, contexts, outbox, switches, login_links, sessions, bookings to aroko_app;
grant insert on approval_decisions, failures, model_calls to aroko_app;
grant delete on contexts to aroko_app;
-- Keys, links and sessions are no reading matter.
revoke select on data_keys, login_links, sessions from aroko_read;

-- The owner's functions below look across tenants and give out ids only.
create policy owner_finds on channel_accounts for select to aroko_owner using (true);
create policy owner_finds on tenants for select to aroko_owner using (true);
create policy owner_finds on inbox for select to aroko_owner using (true);
create policy owner_finds on turns for select to aroko_owner using (true);
create policy owner_finds on outbox for select to aroko_owner using (true);
create policy owner_finds on approvals for select to aroko_owner using (true);
create policy owner_finds on tool_runs for select to aroko_owner using (true);
create policy owner_finds on login_links for select to aroko_owner using (true);
create policy owner_finds on sessions for select to aroko_owner using (true);

-- Audit: written through one function, never changed -----------------------------------------------------------------

create function aroko_audit_is_final() returns trigger language plpgsql as
  $$ begin raise exception 'audit rows are never changed' using errcode = '42501'; end $$;
create trigger audit_is_final before update or delete on audit for each row execute function aroko_audit_is_final();
create trigger audit_is_not_emptied before truncate on audit for each statement execute function aroko_audit_is_final();
create trigger anchors_are_final before update or delete on audit_anchors for each row execute function aroko_audit_is_final();
create trigger anchors_are_not_emptied before truncate on audit_anchors for each statement execute function aroko_audit_is_final();

-- Call it last in a transaction: it locks the head of the stream until the commit.
create function aroko_audit(p_stream text, p_event text, p_subject uuid, p_actor text, p_facts jsonb) returns int
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  v_tenant uuid := aroko_tenant();
  v_head audit_heads;
  v_number int;
  v_at timestamptz := date_trunc('milliseconds', clock_timestamp());
  v_hash bytea;
begin
  if v_tenant is null then
    raise exception 'audit needs a tenant' using errcode = '42501';
  end if;
  insert into audit_heads (tenant_id, stream, last_number, last_hash)
    values (v_tenant, p_stream, 0, sha256(convert_to(v_tenant::text || '/' || p_stream, 'UTF8')))
    on conflict do nothing;
  select * into v_head from audit_heads where tenant_id = v_tenant and stream = p_stream for update;
  v_number := v_head.last_number + 1;
  v_hash := sha256(v_head.last_hash || convert_to(concat_ws(E'\n', v_number, p_event, coalesce(p_subject::text, '-'),
    p_actor, p_facts::text, to_char(v_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')), 'UTF8'));
  insert into audit (tenant_id, stream, number, event, subject_id, actor, facts, happened_at, previous_hash, hash)
    values (v_tenant, p_stream, v_number, p_event, p_subject, p_actor, p_facts, v_at, v_head.last_hash, v_hash);
  update audit_heads set last_number = v_number, last_hash = v_hash where tenant_id = v_tenant and stream = p_stream;
  return v_number;
end $$;

-- Accept: one round trip, one commit ---------------------------------------------------------------------------------

-- The caller encrypts before it calls, under the key it believes to be the contact's. `wrong_key` hands back the live
-- key of a contact that is known already (or none: the key was destroyed, make a new one); the caller encrypts again
-- under that one and calls again. Ids of contact, alias and chat are fresh ones, used where the row is new; each address
-- is encrypted for the row it would lie in.
create function aroko_accept(
  p_channel text, p_account_key text, p_address_kind text, p_chat_hmac bytea, p_contact_hmac bytea, p_chat_kind text,
  p_message_id uuid, p_external_id text, p_kind text, p_arrival text, p_content_cipher bytea, p_content_hmac bytea,
  p_quoted_external_id text, p_sent_at timestamptz,
  p_contact_id uuid, p_key_id uuid, p_key_wrapped bytea, p_master_version int,
  p_alias_id uuid, p_alias_cipher bytea, p_chat_id uuid, p_chat_cipher bytea)
returns table (outcome text, tenant_id uuid, chat_id uuid, contact_id uuid, message_id uuid, sequence int,
  key_id uuid, key_wrapped bytea, master_version int)
language plpgsql security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
declare
  v_account channel_accounts;
  v_contact uuid;
  v_is_new boolean := false;
  v_chat uuid;
  v_key data_keys;
  v_known inbox;
  v_sequence int;
  v_blocked timestamptz;
begin
  -- It sets the tenant itself, until the end of the transaction: inside another tenant's it would change hands unseen.
  if aroko_tenant() is not null then
    raise exception 'accept is called without a tenant' using errcode = '42501';
  end if;
  select * into v_account from channel_accounts a
    where a.channel = p_channel and a.account_key = p_account_key and a.disabled_at is null;
  if not found then
    return query select 'unknown_account', null::uuid, null::uuid, null::uuid, null::uuid, null::int, null::uuid, null::bytea, null::int;
    return;
  end if;
  perform set_config('app.tenant', v_account.tenant_id::text, true);

  select a.contact_id into v_contact from contact_aliases a
    where a.tenant_id = v_account.tenant_id and a.channel = p_channel and a.kind = p_address_kind and a.address_hmac = p_contact_hmac;
  if v_contact is null then
    insert into contacts (id, tenant_id, kind) values (p_contact_id, v_account.tenant_id, 'person');
    insert into contact_aliases (id, tenant_id, contact_id, channel, kind, address_hmac, address_cipher, key_id)
      values (p_alias_id, v_account.tenant_id, p_contact_id, p_channel, p_address_kind, p_contact_hmac, p_alias_cipher, p_key_id)
      on conflict do nothing;
    if found then
      v_contact := p_contact_id;
      v_is_new := true;
    else
      -- Another connection was faster. Its contact counts; ours has no alias and no key, and is taken back.
      delete from contacts c where c.id = p_contact_id;
      select a.contact_id into v_contact from contact_aliases a
        where a.tenant_id = v_account.tenant_id and a.channel = p_channel and a.kind = p_address_kind and a.address_hmac = p_contact_hmac;
    end if;
  end if;

  -- Shared, so that an erasure waits for this message, or this message finds the key gone: never a row under a dead key.
  select * into v_key from data_keys k where k.contact_id = v_contact and k.destroyed_at is null for share;
  if not found then
    -- A new contact, or one that was erased and writes again.
    insert into data_keys (id, tenant_id, contact_id, master_version, wrapped)
      values (p_key_id, v_account.tenant_id, v_contact, p_master_version, p_key_wrapped) on conflict do nothing returning * into v_key;
    if not found then
      select * into v_key from data_keys k where k.contact_id = v_contact and k.destroyed_at is null for share;
    end if;
  end if;
  if v_key.id is distinct from p_key_id then
    if v_is_new then
      -- The caller's key belongs elsewhere or is destroyed: the alias under it would be unreadable.
      delete from contact_aliases a where a.id = p_alias_id;
      delete from contacts c where c.id = p_contact_id;
      v_contact := null;
    end if;
    return query select 'wrong_key', v_account.tenant_id, null::uuid, v_contact, null::uuid, null::int, v_key.id, v_key.wrapped, v_key.master_version;
    return;
  end if;

  insert into chats (id, tenant_id, account_id, contact_id, kind, address_hmac, address_cipher, key_id)
    values (p_chat_id, v_account.tenant_id, v_account.id, v_contact, p_chat_kind, p_chat_hmac, p_chat_cipher, v_key.id)
    on conflict do nothing;
  -- The row lock: whoever has it decides what comes next in this chat.
  select c.id into v_chat from chats c
    where c.tenant_id = v_account.tenant_id and c.account_id = v_account.id and c.address_hmac = p_chat_hmac for update;

  select * into v_known from inbox i
    where i.tenant_id = v_account.tenant_id and i.channel = p_channel and i.account_id = v_account.id and i.external_id = p_external_id;
  if found then
    return query select case when v_known.content_hmac = p_content_hmac and v_known.chat_id = v_chat then 'duplicate' else 'conflict' end,
      v_account.tenant_id, v_known.chat_id, v_known.contact_id, v_known.id, v_known.sequence, v_key.id, null::bytea, null::int;
    return;
  end if;

  select blocked_at into v_blocked from contacts where id = v_contact;
  update chats c set last_sequence = c.last_sequence + 1 where c.id = v_chat returning c.last_sequence into v_sequence;
  insert into inbox (id, tenant_id, chat_id, contact_id, account_id, channel, external_id, sequence, kind, arrival,
      content_cipher, key_id, content_hmac, quoted_external_id, sent_at, state, reason, settled_at)
    values (p_message_id, v_account.tenant_id, v_chat, v_contact, v_account.id, p_channel, p_external_id, v_sequence, p_kind,
      case when v_blocked is not null then 'blocked' else p_arrival end,
      p_content_cipher, v_key.id, p_content_hmac, p_quoted_external_id, p_sent_at,
      case when v_blocked is null and p_arrival = 'turn' then 'accepted' else 'ignored' end,
      case when v_blocked is not null then 'blocked' when p_arrival <> 'turn' then p_arrival end,
      case when v_blocked is null and p_arrival = 'turn' then null else now() end);
  perform pg_notify('aroko_changes', json_build_object('tenant', v_account.tenant_id, 'chat', v_chat, 'what', 'inbox')::text);
  return query select case when v_blocked is null and p_arrival = 'turn' then 'accepted' else 'stored' end,
    v_account.tenant_id, v_chat, v_contact, p_message_id, v_sequence, v_key.id, null::bytea, null::int;
end $$;

-- Tenant-free look-ups: ids only ---------------------------------------------------------------------------------------

create function aroko_tenant_of_account(p_channel text, p_account_key text) returns table (tenant_id uuid, account_id uuid)
language sql stable security definer set search_path = public, pg_temp as
  $$ select a.tenant_id, a.id from channel_accounts a
     where a.channel = p_channel and a.account_key = p_account_key and a.disabled_at is null $$;

create function aroko_tenant_by_slug(p_slug text) returns uuid
language sql stable security definer set search_path = public, pg_temp as
  $$ select id from tenants where slug = p_slug $$;

create function aroko_tenant_of_login_link(p_token_hash bytea) returns uuid
language sql stable security definer set search_path = public, pg_temp as
  $$ select tenant_id from login_links where token_hash = p_token_hash $$;

create function aroko_tenant_of_session(p_token_hash bytea) returns uuid
language sql stable security definer set search_path = public, pg_temp as
  $$ select tenant_id from sessions where token_hash = p_token_hash and ended_at is null and expires_at > now() $$;

-- The sweep: chats whose messages or turns nobody is working on, says that weren't delivered, decisions nobody heard.
create function aroko_chats_behind(p_older_than interval, p_limit int) returns table (tenant_id uuid, chat_id uuid, up_to int)
language sql stable security definer set search_path = public, pg_temp as $$
  select b.tenant_id, b.chat_id, max(b.up_to)::int from (
    select i.tenant_id, i.chat_id, i.sequence as up_to from inbox i
      where i.state = 'accepted' and i.turn_id is null and i.received_at < now() - p_older_than
    union all
    -- A model may take its time over a decided turn: ringing meanwhile would only cost.
    select t.tenant_id, t.chat_id, t.up_to from turns t
      where t.state in ('claimed', 'decided') and t.claimed_at < now() - greatest(p_older_than, interval '90 seconds')
  ) b group by 1, 2 limit p_limit $$;

create function aroko_says_waiting(p_older_than interval, p_limit int)
returns table (tenant_id uuid, chat_id uuid, turn_id uuid, outbox_id uuid, kind text)
language sql stable security definer set search_path = public, pg_temp as $$
  select o.tenant_id, o.chat_id, o.turn_id, o.id, o.kind from outbox o join turns t on t.id = o.turn_id
    -- A question to confirm closes its turn, and its run still has a last word to say.
    where o.state = 'planned' and o.planned_at < now() - p_older_than
      and (t.state = 'running' or exists (select 1 from tool_runs r where r.turn_id = t.id))
    order by o.planned_at limit p_limit $$;

create function aroko_decisions_unheard(p_older_than interval, p_limit int)
returns table (tenant_id uuid, approval_id uuid, turn_id uuid)
language sql stable security definer set search_path = public, pg_temp as $$
  select tenant_id, id, turn_id from approvals
    where decided_at is not null and heard_at is null and decided_at < now() - p_older_than order by decided_at limit p_limit $$;

do $$
declare
  f regprocedure;
begin
  for f in select oid::regprocedure from pg_proc where pronamespace = 'public'::regnamespace and proname like 'aroko\_%'
  loop
    execute format('revoke all on function %s from public', f);
  end loop;
end $$;
grant execute on function aroko_tenant() to aroko_app, aroko_read;
grant execute on function aroko_audit(text, text, uuid, text, jsonb), aroko_tenant_of_account(text, text), aroko_tenant_by_slug(text),
  aroko_tenant_of_login_link(bytea), aroko_tenant_of_session(bytea), aroko_chats_behind(interval, int),
  aroko_says_waiting(interval, int), aroko_decisions_unheard(interval, int) to aroko_app;
grant execute on function aroko_accept(text, text, text, bytea, bytea, text, uuid, text, text, text, bytea, bytea, text, timestamptz,
  uuid, uuid, bytea, int, uuid, bytea, uuid, bytea) to aroko_app;
