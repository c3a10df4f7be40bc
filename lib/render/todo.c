typedef int render_is_empty;
