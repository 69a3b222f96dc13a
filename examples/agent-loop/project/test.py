import sys

sys.path.insert(0, "src")
sys.dont_write_bytecode = True
from total import total

assert total(2, 3) == 5, f"2 and 3 are not {total(2, 3)}"
print("passed")
