def show_stages(): raise SystemExit(1)
check=record=show_stages
