-- One lease for one person: whoever has a chat has every chat of its reader on that account, also those from before it was known
-- that they are one. Each row says so itself, so that whatever asks for a chat's lease reads that chat's row and nothing else.

create function aroko_one_lease() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  -- Its own updates come back here.
  if pg_trigger_depth() > 1 then
    return null;
  end if;
  if new.paused_at is not null then
    update chats c set paused_at = new.paused_at, paused_until = new.paused_until, paused_by = new.paused_by
      where c.tenant_id = new.tenant_id and c.contact_id = new.contact_id and c.account_id = new.account_id and c.id <> new.id
        and (c.paused_at, c.paused_until, c.paused_by) is distinct from (new.paused_at, new.paused_until, new.paused_by);
  else
    -- Not cleared: a lease whose time is over is what the sweep rings the chat's own conversation for.
    update chats c set paused_until = now()
      where c.tenant_id = new.tenant_id and c.contact_id = new.contact_id and c.account_id = new.account_id and c.id <> new.id
        and c.paused_at is not null and (c.paused_until is null or c.paused_until > now());
  end if;
  return null;
end $$;

revoke all on function aroko_one_lease() from public;

create trigger one_lease after update of paused_at, paused_until, paused_by on chats for each row
  when ((old.paused_at, old.paused_until, old.paused_by) is distinct from (new.paused_at, new.paused_until, new.paused_by))
  execute function aroko_one_lease();

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
  -- The longest takeover on an account is that of all their chats there.
  update chats c set paused_at = h.paused_at, paused_until = h.paused_until, paused_by = h.paused_by
    from (select distinct on (account_id) account_id, paused_at, paused_until, paused_by from chats
      where tenant_id = aroko_tenant() and contact_id = p_into and paused_at is not null and (paused_until is null or paused_until > now())
      order by account_id, paused_until desc nulls first, paused_at, id) h
    where c.tenant_id = aroko_tenant() and c.contact_id = p_into and c.account_id = h.account_id;
end $$;
