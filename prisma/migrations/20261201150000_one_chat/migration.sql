-- One voice: a person who turned out to be known under two addresses has one chat per account that goes on, and whoever of us has
-- taken one of their chats has that one.

-- Two contacts are one: the oldest stays, and addresses, chats and bookings are its own from now on.
create or replace function aroko_merge_contacts(p_into uuid, p_others uuid[]) returns void
language plpgsql set search_path = public, pg_temp as $$
begin
  -- Chats before keys, as whoever answers in a chat takes them.
  perform 1 from chats where tenant_id = aroko_tenant() and contact_id = any (p_others || p_into) order by id for update;
  -- Whoever is storing a message of theirs holds its key; after us they see that the contact is over.
  perform 1 from data_keys where tenant_id = aroko_tenant() and contact_id = any (p_others) and destroyed_at is null
    order by id for update;
  update contact_aliases set contact_id = p_into where tenant_id = aroko_tenant() and contact_id = any (p_others);
  update chats set contact_id = p_into where tenant_id = aroko_tenant() and contact_id = any (p_others);
  update bookings set contact_id = p_into where tenant_id = aroko_tenant() and contact_id = any (p_others);
  update contacts c set blocked_at = o.blocked_at
    from (select min(blocked_at) as blocked_at from contacts where tenant_id = aroko_tenant() and id = any (p_others)) o
    where c.id = p_into and c.blocked_at is null and o.blocked_at is not null;
  update contacts set merged_into = p_into where tenant_id = aroko_tenant() and (id = any (p_others) or merged_into = any (p_others));
  -- The longest takeover moves to the chat that goes on: the one that aroko_accept chooses.
  with theirs as (select * from chats where tenant_id = aroko_tenant() and contact_id = p_into),
    live as (select distinct on (account_id) id, account_id from theirs
      order by account_id, customer_wrote_at desc nulls last, created_at desc, id),
    held as (select distinct on (account_id) account_id, paused_at, paused_until, paused_by from theirs
      where paused_at is not null and (paused_until is null or paused_until > now())
      order by account_id, paused_until desc nulls first, paused_at, id)
  update chats c set paused_at = case when c.id = l.id then h.paused_at end,
      paused_until = case when c.id = l.id then h.paused_until end, paused_by = case when c.id = l.id then h.paused_by end
    from held h join live l using (account_id)
    where c.tenant_id = aroko_tenant() and c.contact_id = p_into and c.account_id = h.account_id;
end $$;

-- Accepts messages of one chat, in their order: one round trip, one commit. All binary values are base64.
--
-- The caller encrypts before it calls, under the key it believes to be the contact's and for the rows it names. `again` says
-- what it believed wrong: encrypt again with what the answer holds (a key; the id of the chat) and call again. Ids of contact,
-- aliases and chat are fresh ones, used where the row is new. No messages: the addresses are taken note of, and nothing else.
--
-- p: { channel, accountKey, isKnownOnly, sentAt, contact: { id, kind }, chat: { id, kind, addressKind, hmac, cipher },
--      key: { id, wrapped, masterVersion }, aliases: [{ id, kind, hmac, cipher, retired }], leaseMs,
--      messages: [{ id, externalId, kind, arrival, speaker, content, contentHmac, details, quoted, sentAt, refs, takesNothing, ifNotice, media }] }
-- Looks by keys only: on the first day, with tables of a few pages, a plan that reads all of one would be cheaper, and be kept.
create or replace function aroko_accept(p jsonb) returns jsonb
language plpgsql security definer set search_path = public, pg_temp set enable_seqscan = off as $$
declare
  v_channel text := p ->> 'channel';
  v_account channel_accounts;
  v_tenant uuid;
  v_kind text := p #>> '{chat,kind}';
  v_address bytea := decode(p #>> '{chat,hmac}', 'base64');
  v_key_id uuid := (p #>> '{key,id}')::uuid;
  v_sent timestamptz;
  v_found uuid[];
  v_contact uuid;
  v_contact_row contacts;
  v_is_new boolean;
  v_merged uuid[];
  v_key data_keys;
  v_chat chats;
  v_chats uuid[];
  m jsonb;
  v_known inbox;
  v_given record;
  v_alias contact_aliases;
  v_is_settled boolean;
  v_arrival text;
  v_speaker text;
  v_state text;
  v_reason text;
  v_is_revoked boolean;
  v_has_change boolean;
  v_own uuid;
  v_sequence int;
  v_wrote timestamptz;
  v_human boolean := false;
  v_is_held boolean;
  v_until timestamptz;
  v_is_taken boolean := false;
  v_results jsonb := '[]';
begin
  -- It sets the tenant itself, until the end of the transaction: inside another tenant's it would change hands unseen.
  if aroko_tenant() is not null then
    raise exception 'accept is called without a tenant' using errcode = '42501';
  end if;
  select * into v_account from channel_accounts a
    where a.channel = v_channel and a.account_key = p ->> 'accountKey' and a.disabled_at is null;
  if not found then
    return jsonb_build_object('outcome', 'unknown_account');
  end if;
  v_tenant := v_account.tenant_id;
  perform set_config('app.tenant', v_tenant::text, true);

  for m in select value from jsonb_array_elements(p -> 'messages') loop
    v_sent := greatest(v_sent, (m ->> 'sentAt')::timestamptz);
  end loop;
  v_sent := coalesce(v_sent, (p ->> 'sentAt')::timestamptz, now());

  for v_round in 1..5 loop
    v_is_new := false;
    v_merged := null;
    v_contact := null;
    v_found := null;
    -- All addresses are there, readable, and nobody leaves or comes back to one: nothing is to be written about them.
    v_is_settled := true;
    for v_given in select decode(value ->> 'hmac', 'base64') as hmac, value ->> 'kind' as kind, (value ->> 'retired')::boolean as retired
      from jsonb_array_elements(p -> 'aliases')
    loop
      select * into v_alias from contact_aliases a
        where a.tenant_id = v_tenant and a.channel = v_channel and a.kind = v_given.kind and a.address_hmac = v_given.hmac;
      if not found then
        v_is_settled := false;
        continue;
      end if;
      -- A retired address counts for what was sent before, and where it is being left just now.
      if v_alias.retired_at is null or v_given.retired or v_sent <= v_alias.retired_at then
        v_found := array_append(v_found, v_alias.contact_id);
      end if;
      v_is_settled := v_is_settled and not v_given.retired and v_alias.retired_at is null and v_alias.key_id = v_key_id
        and v_alias.address_cipher is not null;
    end loop;
    if v_found is not null and v_found <> array_fill(v_found[1], array[array_length(v_found, 1)]) then
      -- The oldest first: it stays.
      select array_agg(c.id order by c.created_at, c.id) into v_found from contacts c where c.id = any (v_found);
      v_is_settled := false;
    elsif v_found is not null then
      v_found := v_found[1:1];
    end if;
    -- What comes again says nothing new about who somebody is: an address may have changed hands since.
    if not v_is_settled then
      v_results := aroko_known_messages(v_account, p);
      if v_results is not null then
        return jsonb_build_object('outcome', 'done', 'tenantId', v_tenant, 'accountId', v_account.id, 'messages', v_results);
      end if;
      v_results := '[]';
    end if;
    if v_found is not null then
      v_contact := v_found[1];
    elsif coalesce((p ->> 'isKnownOnly')::boolean, false) then
      return jsonb_build_object('outcome', 'nobody', 'tenantId', v_tenant);
    else
      v_contact := (p #>> '{contact,id}')::uuid;
      v_is_new := true;
      insert into contacts (id, tenant_id, kind) values (v_contact, v_tenant, p #>> '{contact,kind}');
    end if;

    -- Shared, so that an erasure waits for this message, or this message finds the key gone: never a row under a dead key.
    select * into v_key from data_keys k
      where k.tenant_id = v_tenant and k.contact_id = v_contact and k.destroyed_at is null for share;
    if not found then
      -- A new contact, or one that was erased and writes again.
      insert into data_keys (id, tenant_id, contact_id, master_version, wrapped)
        values (v_key_id, v_tenant, v_contact, (p #>> '{key,masterVersion}')::int, decode(p #>> '{key,wrapped}', 'base64'))
        on conflict do nothing returning * into v_key;
      if not found then
        select * into v_key from data_keys k
          where k.tenant_id = v_tenant and k.contact_id = v_contact and k.destroyed_at is null for share;
      end if;
    end if;
    if v_key.id is distinct from v_key_id then
      if v_is_new then
        -- The caller's key belongs elsewhere or is destroyed: nothing may be encrypted under it.
        delete from contacts c where c.id = v_contact;
      end if;
      return jsonb_build_object('outcome', 'again', 'tenantId', v_tenant) || case when v_is_new then '{}'::jsonb else
        jsonb_build_object('contactId', v_contact) end || case when v_key.id is null then '{}'::jsonb else
        jsonb_build_object('key', jsonb_build_object('id', v_key.id, 'wrapped', translate(encode(v_key.wrapped, 'base64'), E'\n', ''),
          'masterVersion', v_key.master_version)) end;
    end if;
    select * into v_contact_row from contacts c where c.id = v_contact;
    -- Merged by another connection between our look and our lock.
    continue when v_contact_row.merged_into is not null;

    if array_length(v_found, 1) > 1 then
      v_merged := v_found[2:];
      perform aroko_merge_contacts(v_contact, v_merged);
      select * into v_contact_row from contacts c where c.id = v_contact;
    end if;

    exit when v_is_settled;
    -- Rows in the way of ours: the address of somebody who has left it, or one that nobody can read since an erasure.
    delete from contact_aliases a using jsonb_to_recordset(p -> 'aliases') as q(kind text, hmac text)
      where a.tenant_id = v_tenant and a.channel = v_channel and a.kind = q.kind and a.address_hmac = decode(q.hmac, 'base64')
        and (a.contact_id <> v_contact or (a.key_id is distinct from v_key.id and (a.address_cipher is null or not exists (
          select from data_keys k where k.id = a.key_id and k.destroyed_at is null))))
        and (a.contact_id = v_contact or (a.retired_at is not null and a.retired_at < v_sent));
    insert into contact_aliases (id, tenant_id, contact_id, channel, kind, address_hmac, address_cipher, key_id)
      select q.id, v_tenant, v_contact, v_channel, q.kind, decode(q.hmac, 'base64'), decode(q.cipher, 'base64'), v_key.id
      from jsonb_to_recordset(p -> 'aliases') as q(id uuid, kind text, hmac text, cipher text)
      where not exists (select from contact_aliases a
        where a.tenant_id = v_tenant and a.channel = v_channel and a.kind = q.kind and a.address_hmac = decode(q.hmac, 'base64'))
      on conflict do nothing;
    exit when not v_is_new;
    exit when not exists (
      select from jsonb_to_recordset(p -> 'aliases') as q(kind text, hmac text)
      where not exists (select from contact_aliases a where a.tenant_id = v_tenant and a.channel = v_channel and a.kind = q.kind
        and a.address_hmac = decode(q.hmac, 'base64') and a.contact_id = v_contact));
    -- Another connection was faster with one of the addresses. Its contact counts; ours is taken back.
    delete from contact_aliases a where a.contact_id = v_contact;
    delete from data_keys k where k.contact_id = v_contact;
    delete from contacts c where c.id = v_contact;
    v_contact := null;
  end loop;
  if v_contact is null or v_contact_row.merged_into is not null then
    raise exception 'whose message this is changed too often' using errcode = '40001';
  end if;

  if not v_is_new and not v_is_settled then
    update contact_aliases a set retired_at = case when q.retired then v_sent end
      from jsonb_to_recordset(p -> 'aliases') as q(kind text, hmac text, retired boolean)
      where a.tenant_id = v_tenant and a.channel = v_channel and a.kind = q.kind and a.address_hmac = decode(q.hmac, 'base64')
        and a.contact_id = v_contact and case when q.retired then a.retired_at is null else a.retired_at < v_sent end;
  end if;

  -- One person has one chat here that goes on, by whatever address they write: the one in which they wrote last. Others of theirs,
  -- from before they were known to be one, are over. The row lock: whoever has it decides what comes next in this chat.
  for v_round in 1..2 loop
    select * into v_chat from chats c
      where c.tenant_id = v_tenant and c.account_id = v_account.id and c.contact_id = v_contact and c.kind = v_kind
      order by c.customer_wrote_at desc nulls last, c.created_at desc, c.id limit 1 for update;
    exit when found;
    if coalesce((p ->> 'isKnownOnly')::boolean, false) then
      return jsonb_build_object('outcome', 'done', 'tenantId', v_tenant, 'accountId', v_account.id, 'contactId', v_contact,
        'keyId', v_key.id, 'messages', v_results);
    end if;
    -- A chat of somebody who had this address before is theirs, and no longer found by it.
    update chats c set address_hmac = sha256(convert_to('left/' || c.id, 'UTF8'))
      where c.tenant_id = v_tenant and c.account_id = v_account.id and c.address_hmac = v_address and c.contact_id <> v_contact;
    insert into chats (id, tenant_id, account_id, contact_id, kind, address_hmac, address_cipher, address_kind, key_id)
      values ((p #>> '{chat,id}')::uuid, v_tenant, v_account.id, v_contact, v_kind, v_address, decode(p #>> '{chat,cipher}', 'base64'),
        p #>> '{chat,addressKind}', v_key.id)
      on conflict do nothing;
  end loop;
  if v_chat.id is null then
    raise exception 'the chat of this address changed hands too often' using errcode = '40001';
  end if;

  -- Replies go to the address that the platform gave last; an address from before an erasure is written anew.
  if v_chat.address_cipher is null
    or (v_chat.key_id is distinct from v_key.id
      and not exists (select from data_keys k where k.id = v_chat.key_id and k.destroyed_at is null))
    or (v_chat.address_hmac <> v_address and exists (
      select from contact_aliases a where a.tenant_id = v_tenant and a.channel = v_channel and a.kind = p #>> '{chat,addressKind}'
        and a.address_hmac = v_address and a.contact_id = v_contact and a.retired_at is null)
      -- Where nothing was said, only an address that is no longer theirs is given up.
      and (not coalesce((p ->> 'isKnownOnly')::boolean, false) or exists (
        select from contact_aliases a where a.tenant_id = v_tenant and a.channel = v_channel and a.address_hmac = v_chat.address_hmac
          and a.contact_id = v_contact and a.retired_at is not null)))
  then
    v_results := aroko_known_messages(v_account, p);
    if v_results is not null then
      return jsonb_build_object('outcome', 'done', 'tenantId', v_tenant, 'accountId', v_account.id, 'messages', v_results);
    end if;
    v_results := '[]';
    if v_chat.id <> (p #>> '{chat,id}')::uuid then
      if v_merged is not null then
        perform aroko_audit(v_chat.id::text, 'contacts_merged', v_contact, 'platform', jsonb_build_object('merged', to_jsonb(v_merged)));
      end if;
      return jsonb_build_object('outcome', 'again', 'tenantId', v_tenant, 'contactId', v_contact, 'chatId', v_chat.id,
        'key', jsonb_build_object('id', v_key.id, 'wrapped', translate(encode(v_key.wrapped, 'base64'), E'\n', ''),
          'masterVersion', v_key.master_version));
    end if;
    update chats c set address_hmac = sha256(convert_to('left/' || c.id, 'UTF8'))
      where c.tenant_id = v_tenant and c.account_id = v_account.id and c.address_hmac = v_address and c.id <> v_chat.id;
    update chats c set address_hmac = v_address, address_cipher = decode(p #>> '{chat,cipher}', 'base64'),
      address_kind = p #>> '{chat,addressKind}', key_id = v_key.id where c.id = v_chat.id;
  end if;

  -- What is quoted, taken back or echoed may stand in a chat of theirs that is over.
  select array_agg(c.id) into v_chats from chats c
    where c.tenant_id = v_tenant and c.account_id = v_account.id and c.contact_id = v_contact;
  v_sequence := v_chat.last_sequence;
  for m in select value from jsonb_array_elements(p -> 'messages') loop
    v_arrival := m ->> 'arrival';
    v_speaker := m ->> 'speaker';
    if v_arrival = 'human' then
      -- Ours, by the platform's id; else by the words, if we were sending them just then and don't know their id yet.
      select o.id into v_own from outbox o where o.tenant_id = v_tenant and o.external_id = m ->> 'externalId' limit 1;
      if not found then
        select o.id into v_own from outbox o
          where o.chat_id = any (v_chats) and o.content_hmac = decode(m ->> 'contentHmac', 'base64') and o.external_id is null
            and o.state in ('sending', 'unknown', 'sent')
            and o.sending_at between coalesce((m ->> 'sentAt')::timestamptz, now()) - interval '1 minute'
              and coalesce((m ->> 'sentAt')::timestamptz, now()) + interval '1 minute'
          order by o.sending_at desc limit 1;
      end if;
      if v_own is not null then
        v_results := v_results || jsonb_build_object('outcome', 'echo', 'outboxId', v_own);
        continue;
      end if;
      -- An operator may sit at the shop's own phone: a REF that waits for an answer says so.
      select 'operator:' || r.operator_id into v_speaker from operator_requests r
        where r.tenant_id = v_tenant and r.state = 'open' and r.expires_at > now() and r.chat_id <> all (v_chats)
          and r.ref in (select jsonb_array_elements_text(m -> 'refs')) limit 1;
      if found then
        v_arrival := 'operator_reply';
      else
        v_speaker := m ->> 'speaker';
      end if;
    elsif (m ->> 'ifNotice')::boolean and not exists (
      -- A word of ours that belongs to no turn of this chat: written to an owner about another one.
      select from outbox o left join turns t on t.id = o.turn_id
        where o.tenant_id = v_tenant and o.external_id = m ->> 'quoted' and o.chat_id = any (v_chats)
          and t.chat_id is distinct from o.chat_id)
    then
      v_arrival := case when m ->> 'kind' = 'reaction' then 'reaction' else 'turn' end;
    end if;
    if v_contact_row.blocked_at is not null and v_arrival not in ('system', 'human', 'edit', 'revoke') then
      v_arrival := 'blocked';
    end if;

    select coalesce(bool_or(i.arrival = 'revoke'), false), coalesce(bool_or(i.arrival = 'edit'), false)
      into v_is_revoked, v_has_change from inbox i
      where i.quoted_external_id = m ->> 'externalId' and i.arrival in ('edit', 'revoke')
        and i.chat_id = any (v_chats) and i.speaker = v_speaker;
    v_state := case when v_is_revoked then 'ignored' when v_arrival in ('turn', 'owner_command', 'operator_reply') then 'accepted'
      when v_arrival = 'stale' then 'expired' else 'ignored' end;
    v_reason := case when v_is_revoked then 'revoked' when v_state <> 'accepted' then v_arrival end;
    insert into inbox (id, tenant_id, chat_id, contact_id, account_id, channel, external_id, sequence, kind, arrival, speaker,
        content_cipher, details_cipher, key_id, content_hmac, quoted_external_id, sent_at, revoked_at, state, reason, settled_at)
      values ((m ->> 'id')::uuid, v_tenant, v_chat.id, v_contact, v_account.id, v_channel, m ->> 'externalId', v_sequence + 1, m ->> 'kind',
        v_arrival, v_speaker, case when not v_is_revoked then decode(m ->> 'content', 'base64') end,
        case when not v_is_revoked then decode(m ->> 'details', 'base64') end, v_key.id,
        case when v_is_revoked then ''::bytea else decode(m ->> 'contentHmac', 'base64') end, m ->> 'quoted',
        (m ->> 'sentAt')::timestamptz, case when v_is_revoked then now() end, v_state, v_reason,
        case when v_state <> 'accepted' then now() end)
      on conflict (tenant_id, channel, account_id, external_id) do nothing;
    if not found then
      -- Here already, or stored by another connection while we waited for the chat.
      select * into v_known from inbox i
        where i.tenant_id = v_tenant and i.channel = v_channel and i.account_id = v_account.id and i.external_id = m ->> 'externalId';
      v_results := v_results || aroko_known(v_known, m, v_channel <> 'web' or v_known.chat_id = v_chat.id);
      continue;
    end if;
    v_sequence := v_sequence + 1;
    v_human := v_human or (v_arrival = 'human' and not coalesce((m ->> 'takesNothing')::boolean, false));
    if m ? 'media' and not v_is_revoked then
      insert into media (id, tenant_id, chat_id, message_id, mime_type, sha256, state)
        values (gen_random_uuid(), v_tenant, v_chat.id, (m ->> 'id')::uuid, m #>> '{media,mimeType}', m #>> '{media,sha256}', 'remote');
    end if;

    if v_arrival = 'revoke' then
      update inbox i set content_cipher = null, details_cipher = null, content_hmac = ''::bytea, revoked_at = now(),
          state = case when i.turn_id is null and i.state = 'accepted' then 'ignored' else i.state end,
          reason = case when i.turn_id is null and i.state = 'accepted' then 'revoked' else i.reason end,
          settled_at = case when i.turn_id is null and i.state = 'accepted' then now() else i.settled_at end
        where i.tenant_id = v_tenant and i.chat_id = any (v_chats) and i.speaker = v_speaker and i.revoked_at is null
          and (i.external_id = m ->> 'quoted' or (i.quoted_external_id = m ->> 'quoted' and i.arrival = 'edit'));
      update media e set content_cipher = null, state = 'failed', code = 'revoked' from inbox i
        where i.tenant_id = v_tenant and i.chat_id = any (v_chats) and i.external_id = m ->> 'quoted' and i.revoked_at is not null
          and e.tenant_id = v_tenant and e.message_id = i.id;
    end if;
    if m ->> 'speaker' not in ('business', 'platform') and v_arrival not in ('system', 'edit', 'revoke', 'reaction') then
      v_wrote := greatest(v_wrote, least(coalesce((m ->> 'sentAt')::timestamptz, now()), now()));
    end if;
    v_results := v_results || jsonb_build_object('outcome', case when v_state = 'accepted' then 'accepted' else 'stored' end,
      'id', m ->> 'id', 'sequence', v_sequence, 'chatId', v_chat.id, 'contactId', v_contact, 'arrival', v_arrival,
      'speaker', v_speaker, 'isEdited', v_has_change and not v_is_revoked);
  end loop;

  -- The same rule as takeChat of prisma/stores/takeover.ts: taken again it lasts longer, never shorter.
  v_is_held := v_chat.paused_at is not null and (v_chat.paused_until is null or v_chat.paused_until > now());
  v_until := now() + make_interval(secs => (p ->> 'leaseMs')::float8 / 1000);
  update chats c set last_sequence = v_sequence,
      customer_wrote_at = greatest(c.customer_wrote_at, v_wrote),
      paused_at = case when not v_human then c.paused_at when v_is_held then c.paused_at else now() end,
      paused_until = case when not v_human then c.paused_until when v_until is null or (v_is_held and c.paused_until is null) then null
        when v_is_held then greatest(c.paused_until, v_until) else v_until end,
      paused_by = case when v_human then 'business' else c.paused_by end
    where c.id = v_chat.id and (v_sequence > c.last_sequence or v_human);
  v_is_taken := v_human and not (v_is_held and v_chat.paused_by = 'business');
  if v_sequence > v_chat.last_sequence then
    perform pg_notify('aroko_changes', json_build_object('tenant', v_tenant, 'chat', v_chat.id, 'what', 'inbox')::text);
  end if;
  if v_human then
    perform pg_notify('aroko_changes', json_build_object('tenant', v_tenant, 'chat', v_chat.id, 'what', 'run')::text);
  end if;
  if v_merged is not null then
    perform aroko_audit(v_chat.id::text, 'contacts_merged', v_contact, 'platform', jsonb_build_object('merged', to_jsonb(v_merged)));
  end if;
  if v_is_taken then
    perform aroko_audit(v_chat.id::text, 'chat_taken', v_chat.id, 'business', case when v_until is null then '{}'::jsonb else
      jsonb_build_object('until', to_char(v_until at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')) end);
  end if;
  return jsonb_build_object('outcome', 'done', 'tenantId', v_tenant, 'accountId', v_account.id, 'chatId', v_chat.id,
    'contactId', v_contact, 'keyId', v_key.id, 'isTaken', v_human, 'messages', v_results);
end $$;

-- Words are held while a person has any chat of their reader's on the account, as lockOutgoing of prisma/stores/deliveries.ts sees it.
create or replace function aroko_says_waiting(p_older_than interval, p_limit int)
returns table (tenant_id uuid, chat_id uuid, turn_id uuid, outbox_id uuid, kind text)
language sql stable security definer set search_path = public, pg_temp as $$
  -- A message without a turn is rung for under its own id: the bell needs one, and no turn has it.
  select o.tenant_id, o.chat_id, coalesce(o.turn_id, o.id), o.id, o.kind
    from outbox o join chats c on c.id = o.chat_id left join turns t on t.id = o.turn_id
    where o.planned_at < now() - p_older_than and (
      -- Its attempt never came back, and whoever would have asked again is gone too.
      (o.state = 'sending' and o.sending_at < now() - interval '2 minutes')
      -- A question to confirm closes its turn, and its run still has a last word to say.
      or (o.state = 'planned'
        and (o.turn_id is null or t.state = 'running' or exists (select 1 from tool_runs r where r.turn_id = t.id))
        -- Held words are said when the chat comes back.
        and not exists (select 1 from chats p where p.contact_id = c.contact_id and p.account_id = c.account_id
          and p.paused_at is not null and (p.paused_until is null or p.paused_until > now()))
        -- Refused for now: the activity that tried comes back by itself.
        and (o.sending_at is null or o.sending_at < now() - interval '10 minutes')
        -- A part waits for the part before it, however long nobody knows what became of that.
        and not (o.origin_kind = 'part' and exists (select 1 from outbox p where p.tenant_id = o.tenant_id
          and p.state in ('sending', 'unknown')
          and (p.id = o.origin_id or (p.origin_kind = 'part' and p.origin_id = o.origin_id and p.ordinal < o.ordinal))))))
    order by o.planned_at limit p_limit $$;

-- What is open now. Each part reads an index of open rows only, so it costs what is open and not what has ever been.
-- `oldest_waiting_seconds`: of the messages that wait for us. Not of those whose run waits for an owner's yes, of whose answer
-- nobody knows whether it arrived, or whose chat a person has: each of these has a figure, or an owner, of its own.
drop function aroko_open_work();
create function aroko_open_work() returns table (
  messages int, oldest_message_seconds float8, oldest_waiting_seconds float8,
  outbox_planned int, outbox_sending int, outbox_unknown int,
  approvals int, oldest_approval_seconds float8,
  operator_requests int, unknown_effects int)
language sql stable security definer set search_path = public, pg_temp as $$
  with open as (select chat_id, turn_id, received_at from inbox where state = 'accepted'),
    m as (select count(*)::int as n, min(received_at) as since from open),
    w as (select min(i.received_at) as since from open i join chats c on c.id = i.chat_id
      where not exists (select from approvals a where a.state = 'open' and a.turn_id = i.turn_id)
        and not exists (select from outbox o where o.state = 'unknown' and o.turn_id = i.turn_id and o.chat_id = i.chat_id)
        and not (c.paused_at is not null and (c.paused_until is null or c.paused_until > now()))),
    o as (select count(*) filter (where state = 'planned')::int as planned, count(*) filter (where state = 'sending')::int as sending,
        count(*) filter (where state = 'unknown')::int as unknown
      from outbox where state in ('planned', 'sending', 'unknown')),
    a as (select count(*)::int as n, min(asked_at) as since from approvals where state = 'open'),
    q as (select count(*)::int as n from operator_requests where state = 'open'),
    e as (select count(*)::int as n from steps where state = 'unknown')
  select m.n, coalesce(extract(epoch from now() - m.since), 0)::float8, coalesce(extract(epoch from now() - w.since), 0)::float8,
    o.planned, o.sending, o.unknown,
    a.n, coalesce(extract(epoch from now() - a.since), 0)::float8, q.n, e.n
  from m, w, o, a, q, e $$;
revoke all on function aroko_open_work() from public;
grant execute on function aroko_open_work() to aroko_app;
