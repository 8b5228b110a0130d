"""What XProf's own converter says of xplane files, as JSON.

    python xprof_says.py TOOL FILE...
"""

import sys

from xprof.convert import raw_to_tool_data

data, _ = raw_to_tool_data.xspace_to_tool_data(sys.argv[2:], sys.argv[1], {})
sys.stdout.write(data if isinstance(data, str) else data.decode())
