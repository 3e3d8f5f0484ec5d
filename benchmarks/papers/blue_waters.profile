hsumma profile 1
# A Cray XE6 of 2012 in the max-rate model: assumptions, since the paper on NAP prints no parameters (tests/unit/coll/models.c).
network.alpha_s 2.5e-6
network.beta_s_per_byte 5e-10
inject_s_per_byte 1.6666666667e-10
node.alpha_s 5e-7
node.beta_s_per_byte 2e-10
gamma_s_per_byte 5e-10
copy_s_per_byte 0
end
